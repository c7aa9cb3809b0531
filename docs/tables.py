"""Write the numbers of docs/results into the documents: `make docs`. A test fails if a document and its tables differ.

A document marks generated text by a comment before it and `<!-- end -->` after it. Comments on a line of their own
stand above a table:

- `<!-- headline -->`: the paper's methods on synthetic points and on MNIST, at m = 300;
- `<!-- accuracies NAME m=300 -->`: docs/results/NAME/scores.csv by method and m, with the CPU seconds at that m;
- `<!-- effects best NAME lam=2,5 methods=a,b -->`: one row a method, one column a value; `mean` instead of `best` reads
  scores.csv instead of sweep.csv; several NAMEs, or the values of the last condition, are the columns; `heads=` names
  them (`_` stands for a space);
- `<!-- growth NAME ... -->`: time and memory over n, of all these experiments;
  `<!-- exponents NAME ... -->`: the power of n with which each stage's time grows;
  `<!-- billion NAME nodes=32 cores=16 -->`: what a billion points would take, calculated from its largest run;
- `<!-- overview NAME -->`: a leaderboard's methods by mean rank, with their accuracy on each dataset;
  `<!-- winners NAME -->`: for each dataset the most accurate method, and the fastest that is nearly as accurate;
  `<!-- boards NAME -->`: its datasets, each with table and figure;
- `<!-- verdicts -->`: the paper's claims with their verdicts; `<!-- claims -->`: the same with all findings;
- `<!-- decisions -->`: the index of docs/decisions.md, from the heading, date and first sentence of each section.

Comments within a line stand before numbers; a list of values of the last condition gives as many numbers:

- `<!-- mean NAME METHOD m=100,300 -->`: mean accuracy over trials in scores.csv; CPU seconds with the word `seconds`;
- `<!-- best NAME METHOD t=3,10 -->`: best mean accuracy in sweep.csv among the settings that have these values;
- `<!-- count VERDICT -->`: the number of claims with this verdict, readings excluded.
"""

import csv
import json
import math
import re
import statistics
import textwrap
from functools import cache
from pathlib import Path

import yaml

DOCS = Path(__file__).parent
CONFIG = DOCS.parent / "config" / "config.yaml"
DOCUMENTS = (
    DOCS.parent / "README.md",
    *(DOCS / name for name in ("results.md", "deviations.md", "claims.md", "decisions.md", "scale.md")),
    *(DOCS / "guide" / name for name in ("choosing.md", "large_data.md", "which_method.md")),
)
# Characters in a line of Markdown text; tables, links and headings may be longer.
WIDTH = 98
TABLE_KINDS = "headline|accuracies|effects|growth|exponents|billion|overview|winners|boards|verdicts|claims|decisions"
TABLE = re.compile(rf"(<!-- ({TABLE_KINDS})((?: [^>]+)?) -->\n).*?(<!-- end -->)", re.DOTALL)
DECISION = re.compile(r"^## (\d+)\. (.+)\n\*([\d-]+)\.\* ((?:.+\n)+)", re.MULTILINE)
INLINE = re.compile(r"(<!-- (mean|best|count) ([^>]+) -->).*?(<!-- end -->)")
# Difference of accuracy up to which a faster method is nearly as accurate.
NEARLY = 0.02
# Stages of FSC, and their names in tables.
STAGES = {"select": "landmarks", "code": "coding", "embed": "embedding", "cluster": "K-means"}
# Parameter -> its name at the head of a table.
SYMBOLS = {"lam": "λ", "alpha": "α", "n_init": "restarts"}
# Label in the headline table -> methods whose accuracy and whose CPU seconds count.
HEADLINE = {
    "FSC-uniform": ("fsc_uniform", "fsc_uniform"),
    "FSC-nonuniform": ("fsc_nonuniform", "fsc_nonuniform"),
    "ESC": ("esc", "esc"),
    "SSC-OMP, all points": ("ssc_omp", "ssc_omp"),
    "SSC-ADMM (modified), all points": ("ssc_admm_modified", "ssc_admm_modified"),
    "SSC-ADMM, all points": ("ssc_admm_low_rank", "ssc_admm"),
}


def filled(document: str) -> str:
    """The document with every table and number generated again."""
    document = TABLE.sub(lambda match: match[1] + table(match[2], match[3].split()) + match[4], document)
    return INLINE.sub(lambda match: match[1] + numbers(match[2], match[3].split()) + match[4], document)


def table(kind: str, words: list[str]) -> str:
    makers = {
        "headline": headline,
        "accuracies": accuracies,
        "effects": effects,
        "growth": growth,
        "exponents": exponents,
        "billion": billion,
        "overview": overview,
        "winners": winners,
        "boards": boards,
        "verdicts": verdicts,
        "claims": claims,
        "decisions": decisions,
    }
    if kind in ("overview", "winners", "boards") and not (DOCS / "results" / words[0]).is_dir():
        return f"No run is kept yet: `make {words[0]}`, then `make keep RESULTS=results/{words[0]}`.\n"
    return makers[kind](*words)


def numbers(kind: str, words: list[str]) -> str:
    if kind == "count":
        return str(sum(claim["verdict"] == " ".join(words) and not claim["reading"] for claim in judged()))
    name, method, *conditions = words
    measure = "seconds" if "seconds" in conditions else kind
    conditions = [condition for condition in conditions if condition != "seconds"]
    return " ".join(number(measure, name, method, place) for place in places(conditions))


def number(measure: str, name: str, method: str, place: dict[str, str]) -> str:
    """One number of an experiment; ValueError if no row has these values."""
    rows = sweep(name) if measure == "best" else scores(name)
    column = "cpu_seconds" if measure == "seconds" else "accuracy"
    rows = [row for row in rows if row["method"] == method and all(row[key] == place[key] for key in place)]
    if not rows:
        raise ValueError(f"docs/results/{name} has no row of {method} with {place}")
    values = [float(row[column]) for row in rows]
    if measure == "best":
        return without_zero(max(values))
    mean = statistics.fmean(values)
    return f"{mean:.3g}" if measure == "seconds" else without_zero(mean)


def places(conditions: list[str]) -> list[dict[str, str]]:
    """`a=1 b=2,3` as one mapping for each value of the last condition."""
    if not conditions:
        return [{}]
    *fixed, (last, values) = (condition.split("=") for condition in conditions)
    return [{**dict(fixed), last: value} for value in values.split(",")]


def scores(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((DOCS / "results" / name / "scores.csv").open()))


def sweep(name: str) -> list[dict[str, str]]:
    """The rows of a sweep with each parameter of the setting as a column."""
    rows = csv.DictReader((DOCS / "results" / name / "sweep.csv").open())
    return [{**row, **{key: as_text(value) for key, value in json.loads(row["setting"]).items()}} for row in rows]


def judged() -> list[dict]:
    return json.loads((DOCS / "results" / "claims.json").read_text())


def headline() -> str:
    """Accuracy and CPU seconds of the paper's methods at m = 300, on synthetic points and on MNIST."""
    rows = [["method", "synthetic", "CPU s", "MNIST", "CPU s"]]
    for label, (accurate, timed) in HEADLINE.items():
        cells = [label]
        for name in ("landmarks", "mnist"):
            cells += [spread(trials_at_300(name, accurate)), seconds(trials_at_300(name, timed))]
        rows.append(cells)
    return markdown(rows)


def trials_at_300(name: str, method: str) -> list[dict]:
    """The rows of a method at m = 300, or on all points; none if the experiment leaves the method out."""
    rows = [row for row in scores(name) if row["method"] == method]
    return [row for row in rows if row["m"] == "300" or row["full_data"] == "True"]


def accuracies(name: str, timed_at: str) -> str:
    """Mean and standard deviation of the accuracy by method and m, as a Markdown table."""
    timed_m = int(timed_at.removeprefix("m="))
    groups: dict[tuple[str, bool], dict[int, list[dict]]] = {}
    for row in scores(name):
        method = groups.setdefault((row["label"], row["full_data"] == "True"), {})
        method.setdefault(int(row["m"]), []).append(row)
    ms = sorted({m for (_, full), by_m in groups.items() if not full for m in by_m})
    most = max(len(trials) for by_m in groups.values() for trials in by_m.values())
    rows = [["clustering accuracy", f"m = {ms[0]:,}", *(f"{m:,}" for m in ms[1:]), f"CPU s (m = {timed_m:,})"]]
    for (label, full), by_m in sorted(groups.items(), key=lambda group: group[0][1]):
        trials = min(map(len, by_m.values()))
        fewer = f" ({trials} trial{'s' * (trials > 1)})" * (trials < most)
        cells = [spread(by_m[m]) for m in (by_m if full else ms)]
        cells += [""] * (len(ms) - len(cells))
        timed = by_m[next(iter(by_m)) if full else timed_m]
        rows.append([f"{label}{fewer}{', all points' * full}", *cells, seconds(timed)])
    return markdown(rows)


def effects(measure: str, names: str, *words: str) -> str:
    """Accuracy by method and value of a parameter, or by method and experiment, as a Markdown table."""
    options = dict(word.split("=") for word in words)
    methods, heads = options.pop("methods").split(","), options.pop("heads", "")
    columns = [(name, place) for name in names.split(",") for place in places([f"{k}={v}" for k, v in options.items()])]
    key, values = ("", heads.replace("_", " ")) if heads else options.popitem()
    rows = [[SYMBOLS.get(key, key), *values.split(",")]]
    for method in methods:
        cells = [number_or_blank(measure, name, method, place) for name, place in columns]
        if not any(cells):
            raise ValueError(f"no number of {method} in {names}")
        rows.append([labels()[method], *cells])
    return markdown(rows)


def number_or_blank(measure: str, name: str, method: str, place: dict[str, str]) -> str:
    try:
        return number(measure, name, method, place)
    except ValueError:
        return ""


@cache
def labels() -> dict[str, str]:
    """Method id -> its label in config/config.yaml."""
    return {id: method["label"] for id, method in yaml.safe_load(CONFIG.read_text())["methods"].items()}


def growth(*names: str) -> str:
    """Accuracy, CPU seconds by stage and the largest stage's memory by method and n, as a Markdown table."""
    rows = [["method", "n", "trials", "accuracy", "CPU s", *STAGES.values(), "peak memory"]]
    for (label, n), trials in by_size(names).items():
        times = [seconds(trials, column) for column in ("cpu_seconds", *(f"{stage}_cpu_seconds" for stage in STAGES))]
        memory = max(float(row["peak_mb"]) for row in trials) / 1024
        rows.append([label, f"{n:,}", str(len(trials)), spread(trials), *times, f"{memory:.2f} GB"])
    return markdown(rows)


def exponents(*names: str) -> str:
    """The powers of n with which the CPU seconds of the stages grow, by method: slopes of a line through logarithms."""
    groups, stages = by_size(names), {stage: label for stage, label in STAGES.items() if stage != "select"}
    rows = [["method", "n from", "to", *stages.values()]]
    for label in dict.fromkeys(label for label, _ in groups):
        sizes = {n: trials for (other, n), trials in groups.items() if other == label}
        slopes = []
        for stage in stages:
            means = [statistics.mean(float(row[f"{stage}_cpu_seconds"]) for row in sizes[n]) for n in sizes]
            line = statistics.linear_regression([math.log(n) for n in sizes], [math.log(t) for t in means])
            slopes.append(line.slope)
        rows.append([label, f"{min(sizes):,}", f"{max(sizes):,}", *(f"{slope:.2f}" for slope in slopes)])
    return markdown(rows)


def by_size(names: tuple[str, ...]) -> dict[tuple[str, int], list[dict]]:
    """The rows of these experiments by method and n, in order."""
    groups: dict[tuple[str, int], list[dict]] = {}
    for row in (row for name in names for row in scores(name)):
        groups.setdefault((row["label"], int(row["n"])), []).append(row)
    return dict(sorted(groups.items()))


def billion(name: str, *sizes: str) -> str:
    """Seconds of every stage for a billion points, calculated from the CPU seconds of an experiment's largest run."""
    size = {key: int(value) for key, value in (entry.split("=") for entry in sizes)}
    row = max(scores(name), key=lambda row: int(row["n"]))
    share = 1e9 / int(row["n"])
    rows = [["", "CPU s", f"s on {size['nodes']} nodes of {size['cores']} cores"]]
    for stage, label in STAGES.items():
        cpu = share * float(row[f"{stage}_cpu_seconds"])
        rows.append([label, f"{cpu:,.0f}", f"{cpu / size['nodes'] / size['cores']:,.1f}"])
    return markdown(rows)


def overview(name: str) -> str:
    """A leaderboard's methods by mean rank, with the accuracy on each dataset; a dash where it was stopped."""
    datasets = leaderboard(name)["datasets"]
    by_method = {id: {row["method"]: row["accuracy"] for row in read(name, f"on_{id}")} for id in datasets}
    rows = [["method", "parameters", "mean rank", *(entry.get("title", id) for id, entry in datasets.items())]]
    for row in read(name, "ranks"):
        values = (by_method[id][row["method"]] for id in datasets)
        cells = [without_zero(float(value)) if value else "–" for value in values]
        rows.append([row["label"], row["parameters"], f"{float(row['mean_rank']):.1f}", *cells])
    return f"\n![Mean rank of every method](../figures/{name}/ranks.png)\n\n{markdown(rows)}\n"


def winners(name: str) -> str:
    """For each dataset of a leaderboard: the most accurate method, the fastest nearly as accurate, and k-means."""
    rows = [["dataset", "n", "most accurate", f"fastest within {without_zero(NEARLY)}", "k-means"]]
    for id, entry in leaderboard(name)["datasets"].items():
        methods = read(name, f"on_{id}")
        done = [row for row in methods if row["accuracy"]]
        near = [row for row in done if float(row["accuracy"]) > float(done[0]["accuracy"]) - NEARLY]
        fastest = min(near, key=lambda row: float(row["cpu_seconds"]))
        plain = [row for row in done if row["method"] == "kmeans"]
        chosen = [result(row) for row in (done[0], fastest)] + [result(row, label=False) for row in plain]
        rows.append([entry.get("title", id), f"{int(methods[0]['n']):,}", *chosen, *[""] * (3 - len(chosen))])
    return markdown(rows)


def result(row: dict[str, str], *, label: bool = True) -> str:
    """`FSC-refined .987 (15 s)`."""
    from lssc.report.leaderboard_cells import format_seconds

    numbers = f"{without_zero(float(row['accuracy']))} ({format_seconds(float(row['cpu_seconds']))} s)"
    return f"{row['label']} {numbers}" if label else numbers


def boards(name: str) -> str:
    """A section for each dataset of a leaderboard: table and figure."""
    from lssc.report.leaderboard_cells import HEADS, board_cells

    sections = []
    for id, entry in leaderboard(name)["datasets"].items():
        title, rows = entry.get("title", id), read(name, f"on_{id}")
        n, trials = int(rows[0]["n"]), max(int(row["trials"]) for row in rows)
        about = f"n = {n:,}, m = {entry['m']:,}, {trials} trials."
        figure = f"![{title}: accuracy against CPU seconds](../figures/{name}/on_{id}.png)"
        sections.append(f"### {title}\n\n{about}\n\n{markdown([list(HEADS), *board_cells(rows)])}\n{figure}\n")
    return "\n" + "\n".join(sections) + "\n"


def leaderboard(name: str) -> dict:
    """The config entry of a kept leaderboard."""
    made = json.loads((DOCS / "results" / name / "provenance.json").read_text())
    return made["config"]["experiments"][name]


def read(name: str, table: str) -> list[dict[str, str]]:
    return list(csv.DictReader((DOCS / "results" / name / f"{table}.csv").open()))


def verdicts() -> str:
    """Every claim with its verdict, as a Markdown table."""
    rows = [[claim["claim"], claim["source"], mark(claim["verdict"])] for claim in judged()]
    return markdown([["the paper says", "where", "verdict"], *rows])


def decisions() -> str:
    """The index of decisions: number, date and the decision, which is the heading and first sentence of its section."""
    rows = [["", "date", "decision"]]
    for number, title, date, text in DECISION.findall((DOCS / "decisions.md").read_text()):
        first_sentence = re.split(r"(?<=\.) (?=[A-Z`(])", " ".join(text.split()), maxsplit=1)[0]
        rows.append([number, date, f"**{title}.** {first_sentence}"])
    return markdown(rows)


def claims() -> str:
    """Every claim with its verdict and findings, one section each."""
    return "\n".join(section(place, claim) for place, claim in enumerate(judged(), 1))


def section(place: int, claim: dict) -> str:
    """One claim: heading, the claim, a summary, and a table of its findings."""
    head = f"## {place}. {mark(claim['verdict'])} ({claim['source']})"
    text = f"{head}\n\n{wrapped(claim['claim'], '> ')}\n\n{wrapped(claim['summary'])}\n"
    if not claim["findings"]:
        return text
    names = ["quantity", "where", "estimate", "95 % interval", "trials", "target", ""]
    return text + "\n" + markdown([names, *map(finding, claim["findings"])])


def finding(f: dict) -> list[str]:
    """The cells of one finding."""
    from lssc.report.units import format_number

    estimate, low, high = (format_number(f[key], f["unit"]) for key in ("estimate", "low", "high"))
    met = {True: "✔", False: "✘", None: "?"}[f["holds"]]
    return [f["what"], f["where"], f"{estimate} ({f['unit']})", f"{low} to {high}", str(f["trials"]), f["target"], met]


def mark(verdict: str) -> str:
    """The verdict with the sign that the report shows."""
    from lssc.report.page import VERDICTS

    return f"{VERDICTS[verdict]} {verdict}"


def markdown(rows: list[list[str]]) -> str:
    """A Markdown table; the first row is its head."""
    lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]]) + "\n"


def wrapped(text: str, indent: str = "") -> str:
    options = {"break_long_words": False, "break_on_hyphens": False}
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent, **options)


def spread(trials: list[dict]) -> str:
    """Mean and standard deviation of the accuracy; empty without trials."""
    values = [float(row["accuracy"]) for row in trials]
    std = f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.3f}{std}".replace("0.", ".") if values else ""


def seconds(trials: list[dict], column: str = "cpu_seconds") -> str:
    """Mean seconds; empty without trials."""
    return f"{statistics.fmean(float(row[column]) for row in trials):.2f}" if trials else ""


def as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def without_zero(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


if __name__ == "__main__":
    for document in DOCUMENTS:
        document.write_text(filled(document.read_text()))
