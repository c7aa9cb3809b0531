"""Write the tables of results into the documents: `make docs`. A test fails where a document differs from its tables.

In a document, a comment `<!-- accuracies NAME m=300 -->` stands above a table made of docs/results/NAME/scores.csv,
with the CPU seconds at that m; `<!-- growth NAME ... -->` above one of time and memory over n, of all these
experiments; `<!-- end -->` stands below it.
"""

import csv
import re
import statistics
from pathlib import Path

DOCS = Path(__file__).parent
DOCUMENTS = (DOCS.parent / "README.md", DOCS / "deviations.md")
BLOCK = re.compile(r"(<!-- (accuracies|growth) ([^>]+) -->\n).*?(<!-- end -->)", re.DOTALL)


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


def scores(name: str) -> list[dict]:
    return list(csv.DictReader((DOCS / "results" / name / "scores.csv").open()))


def spread(trials: list[dict]) -> str:
    values = [float(row["accuracy"]) for row in trials]
    std = f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.3f}{std}".replace("0.", ".")


def filled(text: str) -> str:
    """The document with every table made anew."""
    return BLOCK.sub(lambda found: found[1] + table(found[2], found[3].split()) + found[4], text)


def table(kind: str, words: list[str]) -> str:
    if kind == "growth":
        return growth(*words)
    name, timed_at = words
    return accuracies(name, int(timed_at.removeprefix("m=")))


if __name__ == "__main__":
    for document in DOCUMENTS:
        document.write_text(filled(document.read_text()))
