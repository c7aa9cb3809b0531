"""What the documents say is there, is there, and their numbers are those of the tables."""

import csv
import re
import statistics
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
DOCUMENTS = sorted(
    [*REPO.glob("*.md"), *REPO.glob("docs/*.md"), *(REPO / f"{d}/README.md" for d in ("config", "results"))]
)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(REPO)))
def test_every_relative_link_leads_somewhere(document):
    links = re.findall(r"\]\(([^)#]+)\)", document.read_text())
    missing = [link for link in links if "://" not in link and not (document.parent / link).exists()]
    assert missing == []


def shown(values):
    return f"{statistics.fmean(values):.3f} ± {statistics.stdev(values):.3f}".replace("0.", ".")


def test_the_accuracies_in_the_readme_are_those_of_the_table():
    accuracies = {}
    for row in csv.DictReader((REPO / "docs/results/landmarks/scores.csv").open()):
        accuracies.setdefault((row["label"], row["m"]), []).append(float(row["accuracy"]))
    columns = ["100", "200", "300", "400", "500"]
    told = re.findall(r"^\| ([^|]+?) \| (\.\d{3} ± [^\n]*) \|$", (REPO / "README.md").read_text(), re.MULTILINE)
    assert len(told) == 9
    for name, cells in told:
        label = name.removesuffix(", all points").removesuffix(" (2 trials)")
        keys = [(label, "3600")] if name.endswith(", all points") else [(label, m) for m in columns]
        assert cells.split(" | ")[: len(keys)] == [shown(accuracies[key]) for key in keys]
