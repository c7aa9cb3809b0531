"""Documents: links resolve, named files and parts exist, and numbers equal the kept tables."""

import csv
import json
import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from lssc.paper.claims import CLAIMS
from lssc.paper.verdicts import judge_all
from lssc.parts.registry import FOLDERS, find, names

REPO = Path(__file__).parents[3]
# Shown in CONTRIBUTING.md for users to write.
EXAMPLE_PART = "workflow/lssc/parts/selectors/longest.py"
tables = SimpleNamespace(**runpy.run_path(str(REPO / "docs/tables.py")))
PLACES = ("*.md", "docs/*.md", "docs/guide/*.md", "config/README.md", "data/README.md", "results/README.md")
DOCUMENTS = sorted(document for place in PLACES for document in REPO.glob(place))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(REPO)))
def test_relative_links_resolve(document):
    links = re.findall(r"\]\(([^)]+)\)", document.read_text())
    assert [link for link in links if "://" not in link and not resolves(link, document)] == []


def resolves(link, document):
    """Whether the file exists and, for a link to a section, has a heading of that name."""
    path, _, section = link.partition("#")
    target = document.parent / path if path else document
    return target.exists() and (not section or section in anchors(target))


def anchors(document):
    """The headings of a Markdown file as GitHub links to them."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(REPO)))
def test_lines_of_text_have_at_most_100_characters(document):
    text = re.sub(r"```.*?```|<!--.*?-->", "", document.read_text(), flags=re.DOTALL)
    assert [line for line in text.splitlines() if len(line) > 100 and not line.startswith(("|", "![", "- ["))] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(REPO)))
def test_named_files_exist(document):
    folders = "workflow|lssc|docs|config|tests|benchmarks|profiles|envs"
    files = re.findall(rf"`((?:{folders})/[\w./-]*)`", document.read_text())
    files = {re.sub("^lssc/", "workflow/lssc/", file) for file in files} - {EXAMPLE_PART}
    assert [file for file in sorted(files) if not (REPO / file).exists()] == []


def test_decisions_are_numbered_and_dated():
    text = (REPO / "docs/decisions.md").read_text()
    numbers = [int(number) for number, *_ in tables.DECISION.findall(text)]
    assert numbers == list(range(1, len(re.findall("^## ", text, re.MULTILINE)) + 1))


@pytest.mark.parametrize("document", tables.DOCUMENTS, ids=lambda path: path.name)
def test_no_line_begins_with_an_inline_number(document):
    """A comment at the beginning of a line would end the paragraph."""
    assert re.findall(r"^ *<!-- (?:mean|best|count) .*", document.read_text(), re.MULTILINE) == []


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in FOLDERS for name in names(kind)])
def test_config_readme_lists_parts_with_their_parameters(kind, name):
    lines = (REPO / "config/README.md").read_text().splitlines()
    row = next(line for line in lines if line.startswith(f"| {kind} |") and f"`{name}`" in line)
    assert [parameter for parameter in find(kind, name).defaults if f"`{parameter}`" not in row] == []


def test_example_part_in_contributing_runs():
    example = re.search(r"```python\n(.*?)```", (REPO / "CONTRIBUTING.md").read_text(), re.DOTALL)[1]
    module = {}
    exec(example, module)
    assert module["select_longest"](np.diag([1.0, 4.0, 2.0, 3.0]), 2, skip=1).indices.tolist() == [3, 2]


def test_readme_stays_short():
    assert len((REPO / "README.md").read_text().splitlines()) < 150


@pytest.mark.parametrize("document", tables.DOCUMENTS, ids=lambda path: path.name)
def test_tables_in_documents_are_those_of_the_results(document):
    assert tables.filled(document.read_text()) == document.read_text(), "run `make docs`"


def test_accuracy_table_shows_mean_and_spread():
    rows = [row for row in csv.DictReader((REPO / "docs/results/landmarks/scores.csv").open()) if row["m"] == "200"]
    values = [float(row["accuracy"]) for row in rows if row["method"] == "fsc_uniform"]
    lines = tables.accuracies("landmarks", "m=200").splitlines()
    line = next(line for line in lines if line.startswith("| FSC-uniform |"))
    assert line.split("|")[3].strip() == f"{np.mean(values):.3f} ± {np.std(values, ddof=1):.3f}".replace("0.", ".")


def test_growth_table_shows_each_stage_and_the_largest_memory():
    rows = [row for row in csv.DictReader((REPO / "docs/results/scale/scores.csv").open()) if row["n"] == "60000"]
    rows = [row for row in rows if row["method"] == "fsc_uniform"]
    lines = tables.growth("scale").splitlines()
    cells = [c.strip() for c in next(line for line in lines if line.startswith("| FSC-uniform | 60,000")).split("|")]
    assert cells[7] == f"{np.mean([float(row['code_cpu_seconds']) for row in rows]):.2f}"
    assert cells[10] == f"{max(float(row['peak_mb']) for row in rows) / 1024:.2f} GB"


def test_exponents_are_slopes_of_logarithms():
    names = ("scale", "ten_million", "hundred_million")
    rows = [row for name in names for row in csv.DictReader((REPO / f"docs/results/{name}/scores.csv").open())]
    rows = [row for row in rows if row["method"] == "fsc_uniform"]
    sizes = sorted({int(row["n"]) for row in rows})
    means = [np.mean([float(row["code_cpu_seconds"]) for row in rows if row["n"] == str(n)]) for n in sizes]
    slope, _ = np.polyfit(np.log(sizes), np.log(means), 1)
    [line] = [line for line in tables.exponents(*names).splitlines() if line.startswith("| FSC-uniform |")]
    assert line.startswith(f"| FSC-uniform | 15,000 | 100,000,000 | {slope:.2f} |")


@pytest.mark.parametrize(
    ("data", "dataset"),
    [
        *(("MNIST", "mnist_all"), ("MNIST 2, 7, 8, 9", "mnist")),
        *(("synthetic, m = 100", "synthetic"), ("Fashion-MNIST", "fashion_all")),
    ],
)
def test_aims_of_refined_fsc_stand_beside_the_kept_scores(data, dataset):
    rows = csv.DictReader((REPO / "docs/results/refined/scores.csv").open())
    found = [float(row["accuracy"]) for row in rows if (row["dataset"], row["method"]) == (dataset, "fsc_refined")]
    _, table = (REPO / "docs/guide/which_method.md").read_text().split("| data | aim |")
    line = next(line for line in table.splitlines() if line.startswith(f"| {data} |"))
    _, _, _, mean, least, *_ = (cell.strip() for cell in line.split("|"))
    for cell, value in ((mean.split()[0], np.mean(found)), (least, min(found))):
        assert cell == f"{value:.{len(cell) - 1}f}".removeprefix("0")


def test_low_rank_products_have_the_accuracy_of_ssc_admm():
    rows = list(csv.DictReader((REPO / "docs/results/landmarks/scores.csv").open()))
    dense, low_rank = (
        {row["trial"]: float(row["accuracy"]) for row in rows if row["method"] == method}
        for method in ("ssc_admm", "ssc_admm_low_rank")
    )
    assert dense
    assert {trial: low_rank[trial] for trial in dense} == pytest.approx(dense, abs=1e-3)


def test_kept_claims_follow_from_the_kept_tables():
    scores, agreement = (
        {path.parent.name: list(csv.DictReader(path.open())) for path in (REPO / "docs/results").glob(f"*/{name}.csv")}
        for name in ("scores", "agreement")
    )
    judged, kept = judge_all(CLAIMS, scores, agreement), tables.judged()
    # The last digits of means differ from machine to machine.
    for f in (f for claim in kept for f in claim["findings"]):
        f |= {key: pytest.approx(f[key], rel=1e-9, abs=1e-12) for key in ("estimate", "low", "high")}
    assert judged == kept


@pytest.mark.parametrize(
    ("kind", "words", "expected"),
    [
        ("mean", ["grid", "fsc", "m=6,9"], ".900 .250"),
        ("mean", ["grid", "fsc", "seconds", "m=9"], "1.5"),
        ("best", ["sweep", "fsc", "lam=5,10"], ".700 .800"),
        ("best", ["sweep", "fsc", "scale_rows=true", "lam=10"], ".600"),
        ("best", ["sweep", "fsc"], ".800"),
    ],
)
def test_numbers_in_sentences_are_means_and_best_settings(kind, words, expected, tmp_path, monkeypatch):
    for folder in ("grid", "sweep"):
        (tmp_path / "results" / folder).mkdir(parents=True)
    scores = "method,m,accuracy,cpu_seconds\nfsc,6,1.0,1\nfsc,6,0.8,1\nfsc,9,0.2,1\nfsc,9,0.3,2\nesc,6,0.1,9\n"
    (tmp_path / "results/grid/scores.csv").write_text(scores)
    sweep = "method,setting,accuracy\n" + "".join(
        f'fsc,"{{""lam"": {lam}, ""scale_rows"": {rows}}}",{value}\n'
        for lam, rows, value in [(5, "true", 0.7), (10, "true", 0.6), (10, "false", 0.8)]
    )
    (tmp_path / "results/sweep/sweep.csv").write_text(sweep)
    monkeypatch.setitem(tables.number.__globals__, "DOCS", tmp_path)
    text = f"before <!-- {kind} {' '.join(words)} -->old<!-- end --> after"
    assert tables.filled(text) == text.replace("old", expected)


def test_python_example_of_the_readme_prints_what_it_says(capsys):
    [code] = re.findall(r"```python\n(.*?)```", (REPO / "README.md").read_text(), re.DOTALL)
    exec(code, {})
    assert capsys.readouterr().out.splitlines() == re.findall(r"print\(.*\)  # (.*)", code)


@pytest.fixture
def kept_leaderboard(tmp_path, monkeypatch):
    """Tables of a leaderboard of two methods on two datasets, in place of the kept results."""
    folder = tmp_path / "results/board"
    folder.mkdir(parents=True)
    sizes = {"one": {"n": 90, "m": 9, "title": "One"}, "two": {"n": 60, "m": 6}}
    (folder / "provenance.json").write_text(json.dumps({"config": {"experiments": {"board": {"datasets": sizes}}}}))
    head = "rank,method,label,parameters,n,m,trials,accuracy,nmi,ari,cpu_seconds,accuracy_std,peak_mb,stopped,front\n"
    best = "1,fsc,FSC,tuned,90,9,5,0.9,0.8,0.7,1.25,0.01,200,,True\n"
    (folder / "on_one.csv").write_text(f"{head}{best}2,omp,OMP,published,90,90,5,,,,,,,60 CPU s,False\n")
    (folder / "on_two.csv").write_text(f"{head}{best}2,omp,OMP,published,90,90,5,0.5,0.4,0.3,20,0.02,300,,False\n")
    ranks = "method,label,parameters,mean_rank,One,two\nfsc,FSC,tuned,1,1,1\nomp,OMP,published,2,2,2\n"
    (folder / "ranks.csv").write_text(ranks)
    monkeypatch.setitem(tables.number.__globals__, "DOCS", tmp_path)


@pytest.mark.usefixtures("kept_leaderboard")
def test_overview_of_a_leaderboard_shows_stopped_methods_by_a_dash():
    text = tables.overview("board")
    assert "(../figures/board/ranks.png)" in text
    assert text.strip().splitlines()[-2:] == [
        "| FSC | tuned | 1.0 | .900 | .900 |",
        "| OMP | published | 2.0 | – | .500 |",
    ]


def test_leaderboard_that_was_never_kept_says_how_to_make_it():
    text = tables.filled("<!-- winners nowhere -->\nold\n<!-- end -->")
    assert "make keep RESULTS=results/nowhere" in text


@pytest.mark.usefixtures("kept_leaderboard")
def test_winners_are_the_best_method_and_the_fastest_nearly_as_accurate(tmp_path):
    best = "1,fsc,FSC,tuned,60,9,5,0.9,0.8,0.7,20,0.01,200,,True\n"
    nearly = "2,kmeans,k-means,published,60,60,5,0.89,0.8,0.7,1.25,0.01,200,,True\n"
    poor = "3,omp,OMP,published,60,60,5,0.5,0.4,0.3,0.001,0.02,300,,True\n"
    head = (tmp_path / "results/board/on_two.csv").read_text().partition("\n")[0]
    (tmp_path / "results/board/on_two.csv").write_text(f"{head}\n{best}{nearly}{poor}")
    assert tables.winners("board").splitlines()[2:] == [
        "| One | 90 | FSC .900 (1.2 s) | FSC .900 (1.2 s) |  |",
        "| two | 60 | FSC .900 (20 s) | k-means .890 (1.2 s) | .890 (1.2 s) |",
    ]


@pytest.mark.usefixtures("kept_leaderboard")
def test_every_dataset_of_a_leaderboard_has_a_table_and_a_figure():
    text = tables.boards("board")
    assert "### One\n\nn = 90, m = 9, 5 trials.\n" in text
    assert "| 2 | OMP | published | – | – | – | > 60 | – |" in text
    assert "(../figures/board/on_two.png)" in text
