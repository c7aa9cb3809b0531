"""Claims of one's own are read from a file as data, checked, and judged as the paper's are."""

import json
import subprocess
import sys

import pytest
import yaml

from lssc.paper.own_claims import ConfigError, read_own_claims
from lssc.paper.verdicts import judge_all
from lssc.report.tables import as_csv

LEAD = {"claim": "FSC wins", "experiment": "grid", "kind": "more_accurate", "method": "fsc", "than": "esc"}
MEAN = {"claim": "FSC is good", "experiment": "grid", "kind": "accuracy", "method": "fsc", "at_least": 0.9}


@pytest.fixture
def read(tmp_path):
    def read(entries, config=None):
        path = tmp_path / "claims.yaml"
        path.write_text(entries if isinstance(entries, str) else yaml.safe_dump(entries))
        return read_own_claims(path, config)

    return read


def row(method, n, m, trial, accuracy, seconds=1.0, full=False):
    return {"method": method, "label": method.upper(), "n": str(n), "m": str(m), "trial": str(trial),
            "full_data": str(full), "accuracy": str(accuracy), "cpu_seconds": str(seconds)}  # fmt: skip


def grid(ns=(30,), ms=(6, 9)):
    """FSC is better than ESC by .1 where m = 9 only; OMP, on all points, is four times as slow as FSC."""
    rows = []
    for n in ns:
        for trial in (0, 1, 2):
            rows += [row("fsc", n, m, trial, 0.8 + 0.1 * (m == 9), 2 + trial) for m in ms]
            rows += [row("esc", n, m, trial, 0.8) for m in ms]
            rows += [row("omp", n, n, trial, 0.5, 4 * (2 + trial), full=True)]
    return rows


def judged(claims, rows):
    return [(c["verdict"], [f["where"] for f in c["findings"]]) for c in judge_all(claims, {"grid": rows}, {})]


OMP = {**LEAD, "kind": "times_as_fast", "than": "omp"}
VERDICTS = [
    (LEAD, "holds in part", ["m = 6", "m = 9"]),
    ({**LEAD, "at": {"m": 9}}, "holds", ["m = 9"]),
    ({**LEAD, "at_least": 0}, "holds", ["m = 6", "m = 9"]),
    ({**LEAD, "at": {"m": 9}, "at_least": 0, "at_most": 0.05}, "does not hold", ["m = 9"]),
    ({**LEAD, "at": {"m": 7}}, "not run", []),
    (OMP, "holds", ["m = 6", "m = 9"]),
    ({**OMP, "above": 4.1}, "does not hold", ["m = 6", "m = 9"]),
    # The sizes are those of the method that has landmarks.
    ({**LEAD, "method": "omp", "at_most": -0.2}, "holds", ["m = 6", "m = 9"]),
    ({**MEAN, "method": "omp"}, "does not hold", ["n = 30"]),
    ({**MEAN, "kind": "cpu_seconds"}, "holds", ["m = 6", "m = 9"]),
]


@pytest.mark.parametrize(("entry", "verdict", "where"), VERDICTS)
def test_own_claim_is_judged_at_its_sizes(read, entry, verdict, where):
    rows = [{**r, "cpu_seconds": "5"} if entry["kind"] == "cpu_seconds" else r for r in grid()]
    assert judged(read({"mine": entry}), rows) == [(verdict, where)]


def test_sizes_that_vary_are_named(read):
    claims = read({"mine": LEAD})
    assert judged(claims, grid(ns=(30, 40), ms=(9,))) == [("holds", ["n = 30", "n = 40"])]
    both = judge_all(claims, {"grid": grid(ns=(30, 40))}, {})[0]
    assert both["summary"].endswith("not above 0 at n = 30, m = 6; n = 40, m = 6.")


WRONG = [
    ("!!python/object/apply:os.system [exit]", "line 1: could not determine a constructor"),
    ({"Mine": LEAD}, "top level: 'Mine' is not allowed"),
    ({"admm_equal": LEAD}, "admm_equal.claim: the paper has a claim of this id; use another"),
    ({"a": {**LEAD, "kind": "better"}}, "a.kind: \"better\" must be one of more_accurate, times_as_fast, accuracy"),
    ({"a": {**LEAD, "above": "x"}}, 'a.above: "x" must be a number'),
    ({"a": {**LEAD, "tahn": "esc"}}, "a.tahn: unknown key; did you mean 'than'?"),
    ({"a": {k: v for k, v in LEAD.items() if k != "than"}}, "a.than: missing; more_accurate compares two methods"),
    ({"a": {**MEAN, "than": "esc"}}, "a.than: accuracy is of one method"),
    ({"a": {k: v for k, v in MEAN.items() if k != "at_least"}}, "a.at_least: missing; accuracy needs a target"),
    ({"a": {**LEAD, "above": 1, "at_most": 2}}, "a.above: give either above, or at_least and at_most"),
    ({"a": {**LEAD, "at_least": 3, "at_most": 2}}, "a.at_least: 3 must not exceed at_most, 2"),
    ({"a": {**LEAD, "experiment": "gird"}}, "a.experiment: unknown experiment: 'gird'; did you mean 'grid'?"),
    ({"a": {**LEAD, "experiment": "sweeping"}}, "a.experiment: is a sweep, which is not judged: 'sweeping'"),
    ({"a": {**LEAD, "than": "ecs"}}, "a.than: 'ecs' is not run by experiment 'grid'; did you mean 'esc'?"),
]  # fmt: skip


@pytest.mark.parametrize(("entries", "line"), WRONG)
def test_wrong_own_claim_is_refused_in_one_line(read, small_config, entries, line):
    with pytest.raises(ConfigError) as error:
        read(entries, small_config)
    assert str(error.value).count("\n") == 0
    assert f"claims.yaml: {line}" in str(error.value)


def test_stage_judges_own_claims_before_those_of_the_paper(tmp_path):
    (tmp_path / "grid").mkdir()
    (tmp_path / "grid/scores.csv").write_text(as_csv(grid()))
    (tmp_path / "own.yaml").write_text(yaml.safe_dump({"mine": LEAD}))
    command = [sys.executable, "-m", "lssc.paper.check_claims", "--scores", "grid/scores.csv", "--own", "own.yaml"]
    command += ["--out", "claims.json", "--table", "claims.csv"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    first, second, *_ = json.loads((tmp_path / "claims.json").read_text())
    assert (first["id"], first["verdict"], first["own"]) == ("mine", "holds in part", True)
    assert "own" not in second
    assert done.stderr == "1 holds in part, 27 not run\n"
    (tmp_path / "own.yaml").write_text("a: 3")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "config: own.yaml: a: 3 must be a mapping\n")
