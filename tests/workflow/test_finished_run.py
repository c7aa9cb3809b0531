"""Output of a finished run."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

from tests.workflow.conftest import arrays, facts, jobs

pytestmark = pytest.mark.workflow


def test_run_writes_tables_figures_and_provenance(finished):
    folder = finished.folder / "results/experiments/landmarks"
    assert len(finished.scores()) == 1 + 7 * 2
    for figure in ("fig1a", "fig1b", "stages"):
        for end in ("pdf", "png", "csv"):
            assert (folder / f"figures/{figure}.{end}").stat().st_size > 100
    provenance = json.loads((folder / "provenance.json").read_text())
    assert provenance["packages"]["numpy"] == np.__version__
    assert set(provenance["config"]["methods"]) == set(finished.experiment["methods"])


def test_every_method_beats_chance(finished):
    header, *rows = [line.split(",") for line in finished.scores()]
    accuracies = [float(row[header.index("accuracy")]) for row in rows]
    assert min(accuracies) > 0.3
    assert max(accuracies) > 0.7


def test_all_methods_use_the_same_points(finished):
    assert len(finished.artifacts("data")) == 1


def test_every_artifact_records_recipe_seconds_and_seed(finished):
    for path in finished.artifacts("codes"):
        for trial in facts(path).values():
            assert {"recipe", "seconds", "cpu_seconds", "threads", "trial", "key"} <= set(trial)
            assert trial["threads"] == "1"


def test_every_job_requests_memory_and_minutes(pipeline):
    done = pipeline.run("--dry-run", "--forceall")
    resources = re.findall(r"resources: .*", done.stdout)
    complete = [line for line in resources if re.search(r"\bruntime=\d", line) and re.search(r"\bmem_mb=\d", line)]
    assert len(complete) == sum(jobs(done).values()) > 30


def test_longest_jobs_come_first(pipeline):
    # ADMM takes n^3 operations; the lasso over few landmarks is among the quickest.
    pipeline.experiment["n"] = [2000]
    jobs = re.split(r"\n(?=rule )", pipeline.run("--dry-run", "--forceall").stdout)

    def priority(rule, part):
        return {
            int(re.search(r"priority: (\d+)", job)[1])
            for job in jobs
            if job.startswith(f"rule {rule}:") and part in job
        }

    [quick], [long] = priority("code_points", "selector=uniform, "), priority("code_points", "coder=admm.")
    # Long jobs wait for this one.
    [first] = priority("select_landmarks", "selector=all")
    assert quick < long < first


def test_stage_runs_by_hand_with_the_same_result(finished, tmp_path):
    codes = finished.artifacts("codes")[0]
    recipe = facts(codes)["trial_000"]["recipe"]
    stream = recipe.pop("stream")
    out = tmp_path / "codes.h5"
    subprocess.run(
        [
            *(sys.executable, "-m", "lssc.pipeline.stages.code_points", "--out", out),
            *("--inputs", finished.artifacts("data")[0], codes.parents[1] / "landmarks.h5"),
            *("--recipe", json.dumps({**recipe, "block": f"{stream}00-01"})),
        ],
        check=True,
        capture_output=True,
    )
    expected = arrays(codes)
    for name, value in arrays(out).items():
        np.testing.assert_array_equal(value, expected[name])
