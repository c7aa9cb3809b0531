"""The software, commit, config and sources that made a result."""

import json
import subprocess

import pytest

from lssc.report.provenance import PACKAGES, commit, provenance


@pytest.fixture
def checkout(tmp_path):
    """A checkout with one commit of a source file in workflow/."""
    (tmp_path / "workflow").mkdir()
    (tmp_path / "workflow/a.py").write_text("a = 1\n")
    name = ("-c", "user.name=a", "-c", "user.email=a@b")
    for command in (["init", "-q"], ["add", "."], [*name, "commit", "-qm", "a"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "dirty"),
    [(None, False), ("workflow/a.py", True), ("workflow/b.py", True), ("Snakefile", True), ("results/x.csv", False)],
)
def test_changed_or_untracked_source_marks_the_commit(checkout, file, dirty):
    if file:
        (checkout / file).parent.mkdir(exist_ok=True)
        (checkout / file).write_text("new")
    label = commit(checkout / "workflow")
    assert label.endswith("-dirty") == dirty
    assert len(label.removesuffix("-dirty")) == 12


def test_folder_outside_of_a_checkout_has_no_commit(tmp_path, checkout):
    (checkout / "other").mkdir()
    assert commit(checkout / "other") is None


def test_provenance_names_the_software_and_keeps_config_and_sources():
    made = provenance({"seed": 1}, {"tiny": {"source": "npm tiny@1.0.0"}})
    assert json.loads(json.dumps(made)) == made
    assert (made["config"], made["images"]) == ({"seed": 1}, {"tiny": {"source": "npm tiny@1.0.0"}})
    assert set(made["packages"]) == set(PACKAGES)
    assert made["machine"]["cores"] >= 1
