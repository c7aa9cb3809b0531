"""Write the numbers of results into the documents: `make docs`. A test fails where a document differs from its tables.

In a document, a comment says what stands between it and `<!-- end -->`. On a line of its own, above a table:

- `<!-- accuracies NAME m=300 -->`: docs/results/NAME/scores.csv, with the CPU seconds at that m;
- `<!-- growth NAME ... -->`: time and memory over n, of all these experiments;
- `<!-- verdicts -->`: the paper's claims and what became of them; `<!-- claims -->`: the same with the findings.

Within a line, before numbers (a list of values of the last key gives as many numbers):

- `<!-- mean NAME METHOD m=100,300 -->`: mean accuracy over trials, of docs/results/NAME/scores.csv; with
  `seconds` after the method, CPU seconds;
- `<!-- best NAME METHOD t=3,10 -->`: of a sweep, docs/results/NAME/sweep.csv, the best mean accuracy of the settings
  that have these values;
- `<!-- count VERDICT -->`: how many claims have it, readings left out.
"""

import csv
import json
import re
import statistics
from pathlib import Path

DOCS = Path(__file__).parent
DOCUMENTS = (DOCS.parent / "README.md", DOCS / "deviations.md", DOCS / "claims.md")
BLOCK = re.compile(r"(<!-- (accuracies|growth|verdicts|claims)((?: [^>]+)?) -->\n).*?(<!-- end -->)", re.DOTALL)
INLINE = re.compile(r"(<!-- (mean|best|count) ([^>]+) -->).*?(<!-- end -->)")


def accuracies(name: str, timed_at: int) -> str:
    """Mean and standard deviation of the accuracy by method and m, as a Markdown table."""
    rows = scores(name)
    groups: dict[tuple[str, bool], dict[int, list[dict]]] = {}
    for row in rows:
        method = groups.setdefault((row["label"], row["full_data"] == "True"), {})
        method.setdefault(int(row["m"]), []).append(row)
    ms = sorted({m for (_, full), by_m in groups.items() if not full for m in by_m})
    most = max(len(trials) for by_m in groups.values() for trials in by_m.values())
    head = [f"m = {ms[0]:,}", *(f"{m:,}" for m in ms[1:])]
    lines = [f"| clustering accuracy | {' | '.join(head)} | CPU s (m = {timed_at:,}) |", f"|{'---|' * (len(ms) + 2)}"]
    for (label, full), by_m in sorted(groups.items(), key=lambda group: group[0][1]):
        trials = min(map(len, by_m.values()))
        fewer = f" ({trials} trial{'s' * (trials > 1)})" * (trials < most)
        cells = [spread(by_m[m]) for m in (by_m if full else ms)]
        seconds = statistics.fmean(float(row["cpu_seconds"]) for row in by_m[next(iter(by_m)) if full else timed_at])
        cells += [""] * (len(ms) - len(cells))
        lines.append(f"| {label}{fewer}{', all points' * full} | {' | '.join(cells)} | {seconds:.2f} |")
    return "\n".join(lines) + "\n"


def growth(*names: str) -> str:
    """Accuracy, CPU seconds by stage and the largest stage's memory by method and n, as a Markdown table."""
    stages = {"select": "landmarks", "code": "coding", "embed": "embedding", "cluster": "K-means"}
    groups: dict[tuple[str, int], list[dict]] = {}
    for row in (row for name in names for row in scores(name)):
        groups.setdefault((row["label"], int(row["n"])), []).append(row)
    lines = [f"| method | n | trials | accuracy | CPU s | {' | '.join(stages.values())} | peak memory |"]
    lines.append(f"|{'---|' * (6 + len(stages))}")
    for (label, n), rows in sorted(groups.items()):
        columns = ["cpu_seconds", *(f"{stage}_cpu_seconds" for stage in stages)]
        seconds = [statistics.fmean(float(row[column]) for row in rows) for column in columns]
        memory = max(float(row["peak_mb"]) for row in rows) / 1024
        cells = [label, f"{n:,}", len(rows), spread(rows), *(f"{x:.2f}" for x in seconds), f"{memory:.2f} GB"]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def judged() -> list[dict]:
    return json.loads((DOCS / "results" / "claims.json").read_text())


def verdicts() -> str:
    """Every claim with its verdict, as a Markdown table."""
    lines = ["| the paper says | where | verdict |", "|---|---|---|"]
    lines += [f"| {cell(c['claim'])} | {c['source']} | {mark(c['verdict'])} |" for c in judged()]
    return "\n".join(lines) + "\n"


def claims() -> str:
    """Every claim with its verdict and what was found, one section each."""
    return "\n".join(section(place, claim) for place, claim in enumerate(judged(), 1))


def section(place: int, claim: dict) -> str:
    lines = [
        f"### {place}. {claim['claim']}",
        "",
        f"{claim['source']}. **{mark(claim['verdict'])}.** {claim['summary']}",
        "",
    ]
    if claim["findings"]:
        lines += ["| what | where | estimate | 95 % interval | trials | target | |", "|---|---|---|---|---|---|---|"]
        lines += [finding(f) for f in claim["findings"]] + [""]
    return "\n".join(lines)


def finding(f: dict) -> str:
    from lssc.report.units import format_number

    estimate, low, high = (format_number(f[key], f["unit"]) for key in ("estimate", "low", "high"))
    met = {True: "✔", False: "✘", None: "?"}[f["holds"]]
    cells = cell(f["what"]), f["where"], f"{estimate} ({f['unit']})", f"{low} to {high}", f["trials"], f["target"], met
    return f"| {' | '.join(map(str, cells))} |"


def mark(verdict: str) -> str:
    """As in the report."""
    from lssc.report.page import VERDICTS

    return f"{VERDICTS[verdict]} {verdict}"


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def scores(name: str) -> list[dict]:
    return list(csv.DictReader((DOCS / "results" / name / "scores.csv").open()))


def spread(trials: list[dict]) -> str:
    values = [float(row["accuracy"]) for row in trials]
    std = f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.3f}{std}".replace("0.", ".")


def means(name: str, method: str, *words: str) -> str:
    """Mean accuracy, or CPU seconds, of a method at each of the places."""
    column = "cpu_seconds" if "seconds" in words else "accuracy"
    rows = [row for row in scores(name) if row["method"] == method]
    found = []
    for wanted in places([word for word in words if word != "seconds"]):
        values = [float(row[column]) for row in rows if all(row[key] == value for key, value in wanted.items())]
        found.append(f"{statistics.fmean(values):.3g}" if column == "cpu_seconds" else short(statistics.fmean(values)))
    return " ".join(found)


def best(name: str, method: str, *words: str) -> str:
    """The best mean accuracy of a sweep at each of the places."""
    rows = list(csv.DictReader((DOCS / "results" / name / "sweep.csv").open()))
    rows = [(json.loads(row["setting"]), float(row["accuracy"])) for row in rows if row["method"] == method]
    found = []
    for wanted in places(list(words)):
        values = [value for setting, value in rows if all(text(setting[key]) == v for key, v in wanted.items())]
        found.append(short(max(values)))
    return " ".join(found)


def places(words: list[str]) -> list[dict[str, str]]:
    """`a=1 b=2,3` as one mapping for each value of the last."""
    if not words:
        return [{}]
    *fixed, (last, values) = (word.split("=") for word in words)
    return [{**dict(fixed), last: value} for value in values.split(",")]


def text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def filled(document: str) -> str:
    """The document with every table and number made anew."""
    document = BLOCK.sub(lambda found: found[1] + table(found[2], found[3].split()) + found[4], document)
    return INLINE.sub(lambda found: found[1] + numbers(found[2], found[3].split(" ")) + found[4], document)


def numbers(kind: str, words: list[str]) -> str:
    if kind == "count":
        return str(sum(claim["verdict"] == " ".join(words) and not claim["reading"] for claim in judged()))
    return {"mean": means, "best": best}[kind](*words)


def table(kind: str, words: list[str]) -> str:
    if kind == "accuracies":
        name, timed_at = words
        return accuracies(name, int(timed_at.removeprefix("m=")))
    return {"growth": growth, "verdicts": verdicts, "claims": claims}[kind](*words)


if __name__ == "__main__":
    for document in DOCUMENTS:
        document.write_text(filled(document.read_text()))
