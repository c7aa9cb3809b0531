"""What the documents say is there, is there, and their numbers are those of the tables."""

import csv
import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

REPO = Path(__file__).parents[2]
tables = SimpleNamespace(**runpy.run_path(str(REPO / "docs/tables.py")))
DOCUMENTS = sorted(
    [*REPO.glob("*.md"), *REPO.glob("docs/*.md"), *(REPO / f"{d}/README.md" for d in ("config", "data", "results"))]
)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(REPO)))
def test_every_relative_link_leads_somewhere(document):
    links = re.findall(r"\]\(([^)#]+)\)", document.read_text())
    missing = [link for link in links if "://" not in link and not (document.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("document", tables.DOCUMENTS, ids=lambda path: path.name)
def test_tables_in_documents_are_those_of_the_results(document):
    assert tables.filled(document.read_text()) == document.read_text(), "run `make docs`"


def test_a_table_shows_mean_and_spread_of_every_method_and_m():
    rows = [row for row in csv.DictReader((REPO / "docs/results/landmarks/scores.csv").open()) if row["m"] == "200"]
    values = [float(row["accuracy"]) for row in rows if row["method"] == "fsc_uniform"]
    line = next(line for line in tables.accuracies("landmarks", 200).splitlines() if line.startswith("| FSC-uniform |"))
    assert line.split("|")[3].strip() == f"{np.mean(values):.3f} ± {np.std(values, ddof=1):.3f}".replace("0.", ".")


def test_a_table_of_growth_shows_each_stage_and_the_largest_memory():
    rows = [row for row in csv.DictReader((REPO / "docs/results/scale/scores.csv").open()) if row["n"] == "60000"]
    rows = [row for row in rows if row["method"] == "fsc_uniform"]
    lines = tables.growth("scale").splitlines()
    cells = [c.strip() for c in next(line for line in lines if line.startswith("| FSC-uniform | 60,000")).split("|")]
    assert cells[7] == f"{np.mean([float(row['code_cpu_seconds']) for row in rows]):.2f}"
    assert cells[10] == f"{max(float(row['peak_mb']) for row in rows) / 1024:.2f} GB"
