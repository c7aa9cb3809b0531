"""Score tables, and the points without a code in them."""

import csv
import io
from pathlib import Path

import pytest

from lssc.errors import DamagedArtifact
from lssc.pipeline.store.artifacts import Record, writing
from lssc.pipeline.study.load import load
from lssc.report.outline import runs_of
from lssc.report.tables import COLUMNS, as_csv, score_rows, uncoded_warnings


@pytest.fixture
def study(small_config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return load(small_config)


def write_scores(study, experiment, trials_of=lambda run: run.block.trials, **scores):
    for i, run in enumerate(study.experiments[experiment].runs()):
        with writing(Path(study.paths.scores.format(**run.wildcards))) as writer:
            for trial in trials_of(run):
                values = dict.fromkeys(COLUMNS, 0.123456789) | {"accuracy": i + trial / 10, "converged": True} | scores
                writer.add(trial, Record({}, {"scores": values}))


def rows_of(study, experiment):
    return list(score_rows(experiment, runs_of(study, experiment)))


def test_table_has_a_row_for_every_run_and_trial_in_order(study):
    write_scores(study, "grid")
    rows = rows_of(study, "grid")
    expected = [(run.method.id, run.n, run.m, t) for run in study.experiments["grid"].runs() for t in run.block.trials]
    assert [(row["method"], row["n"], row["m"], row["trial"]) for row in rows] == expected
    assert {row["dataset"] for row in rows if row["method"] == "esc"} == {"raw"}
    assert {row["method"] for row in rows if row["full_data"]} == {"omp"}
    assert rows[0]["label"] == "FSC"
    assert "setting" not in rows[0]
    # Rounded for people and for diffs.
    assert (rows[0]["seconds"], rows[0]["peak_mb"], rows[0]["converged"]) == (0.123457, 0.1, True)


def test_table_of_a_sweep_holds_its_settings_and_can_be_read_back(study):
    write_scores(study, "sweeping")
    rows = rows_of(study, "sweeping")
    assert rows[0]["setting"] == '{"dataset": "plain", "lam": 5, "scale_rows": true}'
    assert len({row["setting"] for row in rows if row["method"] == "fsc"}) == 8
    again = list(csv.DictReader(io.StringIO(as_csv(rows))))
    assert [{k: str(v) for k, v in row.items()} for row in rows] == again


def test_scores_without_a_trial_are_damaged(study):
    write_scores(study, "grid", trials_of=lambda run: run.block.trials[:-1])
    with pytest.raises(DamagedArtifact, match=r"scores\.h5"):
        rows_of(study, "grid")


def uncoded_table(folder, *counts, **more):
    """A score table of one method per count of points without a code, of 1,000 points and two trials each."""
    path, common = folder / "scores.csv", {"n": 1000, "m": 50, **more}
    rows = [{"method": f"m{i}", "label": f"M{i}", **common, "n_uncoded": count} for i, count in enumerate(counts)]
    path.write_text(as_csv([{**row, "trial": trial} for row in rows for trial in (0, 1)]))
    return path


def test_run_warns_of_points_without_a_code(tmp_path):
    assert uncoded_warnings([uncoded_table(tmp_path, 0, 10)]) == []
    (line,) = uncoded_warnings([uncoded_table(tmp_path, 11, 0, 120)])
    where = "M2 leaves 12.0% of the points without a code at n = 1,000, m = 50 (1 more above 1%);"
    assert line.endswith(f"/scores.csv: {where} a larger lam or more landmarks code them")
    assert 'm = 50, {"lam": 2};' in uncoded_warnings([uncoded_table(tmp_path, 11, setting='{"lam": 2}')])[0]


def test_table_of_an_earlier_version_gives_no_warning(tmp_path):
    (tmp_path / "scores.csv").write_text("label,n,m,trial\nA,10,5,0\n")
    assert uncoded_warnings([tmp_path / "scores.csv"]) == []
