import json
from pathlib import Path

import numpy as np
import pytest

from lssc import cli
from lssc.pipeline.store.artifacts import Record, writing
from lssc.pipeline.study.load import load
from lssc.pipeline.study.paths import LAST_CONFIG


@pytest.fixture
def results(small_config, tmp_path):
    """A results folder of a run of `line`; the points of trial 2 come from rows 100 and on of a larger collection."""
    folder = tmp_path / "moved"
    study = load({**small_config, "run": ["line"], "results": str(folder)})
    folder.mkdir()
    (folder / LAST_CONFIG).write_text(json.dumps({**small_config, "run": ["line"]}))
    for run in study.experiments["line"].runs():
        files = run.artifacts(study.paths)
        for name in ("data", "result"):
            with writing(Path(files[name])) as writer:
                for trial in run.block.trials:
                    origin = {"origin": np.arange(100, 130)} if trial == 2 and name == "data" else {}
                    writer.add(trial, Record({"labels": np.arange(30) % (trial + 1), **origin}))
    return folder


def test_writes_row_and_label_of_every_point(results, capsys):
    cli.main(["labels", "line", "fsc", "--results", str(results)])
    paths = list(map(Path, capsys.readouterr().out.split()))
    assert [path.name for path in paths] == ["fsc-n30-m6.csv", "fsc-n30-m9.csv"]
    lines = paths[0].read_text().splitlines()
    assert lines[0] == "trial,row,label"
    assert lines[1:3] == ["0,0,0", "0,1,0"]
    assert lines[31:33] == ["1,0,0", "1,1,1"]
    assert lines[61:64] == ["2,100,0", "2,101,1", "2,102,2"]
    assert len(lines) == 1 + 3 * 30


def test_writes_every_method_into_a_folder_of_choice(results, tmp_path, capsys):
    cli.main(["labels", "line", "--results", str(results), "--out", str(tmp_path / "mine")])
    assert {path.name.partition("-")[0] for path in (tmp_path / "mine").glob("*.csv")} == {"fsc", "esc", "omp"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lines"], "unknown experiment 'lines'; did you mean 'line'?"),
        (["line", "fcs"], "unknown method 'fcs'; did you mean 'fsc'?"),
        (["grid"], "data.h5: not there; run the experiment first"),
        (["line", "--results", "nowhere"], "nowhere: no config.json there; name the results folder of a run"),
    ],
)
def test_reports_what_is_not_there_in_one_line(results, arguments, message):
    with pytest.raises(SystemExit) as caught:
        cli.main(["labels", "--results", str(results), *arguments])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_leaderboard_has_a_file_for_each_dataset_and_leaves_out_stopped_trials(small_config, tmp_path, capsys):
    sizes = {"plain": {"n": 30, "m": 6}, "raw": {"n": 30, "m": 6}}
    board = {"datasets": sizes, "stream": "board", "trials": 1, "methods": ["fsc"]}
    config = {**small_config, "run": ["board"], "experiments": {"board": board}}
    study = load({**config, "results": str(tmp_path)})
    (tmp_path / LAST_CONFIG).write_text(json.dumps(config))
    for run in study.experiments["board"].runs():
        files = run.artifacts(study.paths)
        stopped = {"stopped": "5 CPU s"} if run.dataset == "raw" else {}
        for name, facts in (("data", {}), ("result", stopped)):
            with writing(Path(files[name])) as writer:
                writer.add(0, Record({} if facts else {"labels": np.zeros(30, int)}, facts))
    cli.main(["labels", "board", "--results", str(tmp_path)])
    lines = {path.name: len(path.read_text().splitlines()) for path in map(Path, capsys.readouterr().out.split())}
    assert lines == {"fsc-plain-n30-m6.csv": 31, "fsc-raw-n30-m6.csv": 1}
