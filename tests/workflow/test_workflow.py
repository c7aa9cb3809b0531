"""What a user of the pipeline relies on, seen on real runs."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest

from tests.workflow.conftest import REPO, Pipeline, jobs

pytestmark = pytest.mark.workflow
SCORES = "results/experiments/landmarks/scores.csv"
ONE_PATH = {"code_points": 1, "embed_points": 1, "cluster_points": 1, "score_labels": 1}
# What follows from any new score.
TOLD = {"gather_scores": 1, "plot_landmarks": 1, "check_claims": 1, "write_report": 1}


def facts(path):
    with h5py.File(path) as file:
        return {trial: json.loads(group.attrs["facts"]) for trial, group in file.items()}


def arrays(path):
    with h5py.File(path) as file:
        return {f"{trial}/{name}": data[()] for trial, group in file.items() for name, data in group.items()}


def test_a_run_makes_tables_figures_and_provenance(finished):
    folder = finished.folder / "results/experiments/landmarks"
    assert len(finished.scores()) == 1 + 7 * 2
    for figure in ("fig1a", "fig1b", "stages"):
        for end in ("pdf", "png", "csv"):
            assert (folder / f"figures/{figure}.{end}").stat().st_size > 100
    provenance = json.loads((folder / "provenance.json").read_text())
    assert provenance["packages"]["numpy"] == np.__version__
    assert set(provenance["config"]["methods"]) == set(finished.experiment["methods"])


def test_every_method_finds_most_of_the_structure(finished):
    header, *rows = [line.split(",") for line in finished.scores()]
    accuracies = [float(row[header.index("accuracy")]) for row in rows]
    assert min(accuracies) > 0.3
    assert max(accuracies) > 0.7


def test_all_methods_see_the_same_points(finished):
    assert len(finished.artifacts("data")) == 1


def test_every_artifact_says_how_it_was_made(finished):
    for path in finished.artifacts("codes"):
        for trial in facts(path).values():
            assert {"recipe", "seconds", "cpu_seconds", "threads", "trial", "key"} <= set(trial)
            assert trial["threads"] == "1"


def test_a_second_run_does_nothing(pipeline):
    done = pipeline.run()
    assert done.returncode == 0
    assert "Nothing to be done" in done.stdout + done.stderr


def test_every_job_asks_for_memory_and_minutes(pipeline):
    done = pipeline.run("--dry-run", "--forceall")
    asking = re.findall(
        r"resources: .*\bruntime=\d+.*\bmem_mb=\d+|resources: .*\bmem_mb=\d+.*\bruntime=\d+", done.stdout
    )
    assert len(asking) == sum(jobs(done).values()) > 30


def test_other_amounts_rerun_nothing(pipeline):
    assert jobs(pipeline.run("--dry-run", "--set-resources", "code_points:mem_mb=9999")) == {}


def test_a_new_lambda_reruns_the_coding_of_its_method_and_what_follows(pipeline):
    pipeline.config["methods"] = {"fsc_uniform": {"coder": {"name": "lasso", "lam": 33}}}
    assert pipeline.planned() == {**ONE_PATH, **TOLD}
    assert pipeline.finish(SCORES) == {**ONE_PATH, "gather_scores": 1}
    pipeline.config.pop("methods")
    # Nothing computed is lost: the old value only needs its table, figures and report again.
    assert pipeline.planned() == TOLD


def test_a_new_noise_level_reruns_everything(pipeline):
    pipeline.config["datasets"] = {"synthetic": {"generator": {"noise": 0.2}}}
    assert pipeline.planned()["generate_data"] == 1
    assert pipeline.planned()["score_labels"] == 7


def test_more_kmeans_restarts_rerun_the_clustering_only(pipeline):
    pipeline.config["methods"] = {"fsc_uniform": {"clusterer": {"name": "kmeans", "n_init": 11}}}
    planned = pipeline.planned()
    assert planned["cluster_points"] == 1
    assert not {"generate_data", "select_landmarks", "code_points", "embed_points"} & set(planned)


def test_a_new_label_redraws_without_computing(pipeline):
    pipeline.config["methods"] = {"esc": {"label": "Exemplars"}}
    assert pipeline.planned() == TOLD


def test_more_trials_compute_only_the_new_ones(pipeline):
    before = {p.relative_to(pipeline.folder): p.stat().st_mtime_ns for p in pipeline.artifacts("codes")}
    pipeline.experiment["trials"] = 3
    done = pipeline.finish(SCORES)
    assert done["generate_data"] == 1
    assert before == {p: (pipeline.folder / p).stat().st_mtime_ns for p in before}
    assert sum(line.count(",2,fsc_uniform,") for line in pipeline.scores()) == 1


def test_another_block_size_takes_finished_trials_over(pipeline):
    old = facts(pipeline.artifacts("codes")[0])
    pipeline.config["block"] = 4
    pipeline.experiment["trials"] = 3
    pipeline.experiment["overrides"]["ssc_admm"]["trials"] = 3
    pipeline.finish(SCORES)
    wider = next(p for p in pipeline.artifacts("codes") if "t00-02" in str(p))
    new = facts(wider)
    # The very seconds of the first computation: these trials were copied, the third one was not.
    assert {trial: new[trial]["seconds"] for trial in old} == {trial: old[trial]["seconds"] for trial in old}
    assert len(new) == 3


def five_trials(folder, *, block, cores):
    pipeline = Pipeline(folder)
    pipeline.config["block"] = block
    pipeline.experiment["trials"] = 5
    pipeline.experiment["overrides"]["ssc_admm"]["trials"] = 5
    pipeline.finish(SCORES, cores=cores)
    return pipeline


def test_labels_and_scores_do_not_depend_on_cores_or_blocks(finished, tmp_path):
    one, five = five_trials(tmp_path / "one", block=1, cores=1), five_trials(tmp_path / "five", block=5, cores=2)
    assert one.scores() == five.scores()
    # The finished run, of blocks of two on two cores, knows the first two trials alone.
    assert set(finished.scores()) <= set(five.scores())
    labels = one.labels()
    assert labels.keys() == five.labels().keys()
    assert len(labels) == 7 * 5
    for run, found in {**five.labels(), **finished.labels()}.items():
        np.testing.assert_array_equal(found, labels[run], err_msg=str(run))


@pytest.fixture
def checkout(pipeline, tmp_path):
    """The finished run with a copy of the code that may be changed."""
    repo = tmp_path / "repo"
    repo.mkdir()
    shutil.copy(REPO / "Snakefile", repo)
    for name in ("workflow", "config", "profiles", "envs"):
        shutil.copytree(REPO / name, repo / name)
    return Pipeline(pipeline.folder, repo)


def change(checkout, file, old, new):
    path = checkout.repo / "workflow/lssc" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_comment_in_the_library_reruns_nothing(checkout):
    change(checkout, "omp_kernel.py", "RIGHT_ANGLE = 1e-10", "# as good as none\nRIGHT_ANGLE = 1e-10")
    assert checkout.planned() == {}


def test_a_change_in_the_template_of_the_report_writes_it_anew(checkout):
    change(checkout, "../report/page.html", "<h2>Verdicts</h2>", "<h2>What became of the claims</h2>")
    assert checkout.planned() == {"write_report": 1}


def test_a_change_in_one_coder_reruns_that_coder_and_what_follows(checkout):
    change(checkout, "omp_kernel.py", "RIGHT_ANGLE = 1e-10", "RIGHT_ANGLE = 1e-9")
    assert checkout.planned() == {**ONE_PATH, **TOLD}


def test_a_change_deep_in_the_library_reaches_what_uses_it_and_nothing_else(checkout):
    change(checkout, "spectral.py", "DENSE = 256", "DENSE = 255")
    # The graph methods; FSC embeds without a graph.
    planned = checkout.planned()
    assert planned["embed_points"] == 5
    assert "code_points" not in planned


def test_a_damaged_artifact_is_named_and_set_aside(pipeline, finished):
    victim = pipeline.artifacts("codes")[0]
    victim.write_bytes(victim.read_bytes()[:-1])
    done = pipeline.run()
    assert done.returncode == 0
    complaint = [line for line in done.stderr.splitlines() if "moved aside" in line]
    assert len(complaint) == 1
    assert str(victim.relative_to(pipeline.folder)) in complaint[0]
    assert not victim.exists()
    assert pipeline.scores() == finished.scores()


def test_damage_that_does_not_show_is_named_by_who_reads_it_and_mended_by_the_next_run(pipeline, finished):
    # A run that finds nothing to do has seen the files as Snakemake left them.
    pipeline.run()
    victim = pipeline.artifacts("codes")[0]
    content, before = bytearray(victim.read_bytes()), victim.stat()
    start = bytes(content).index(arrays(victim)["trial_000/codes_data"].tobytes())
    content[start] ^= 0xFF
    victim.write_bytes(content)
    os.utime(victim, ns=(before.st_mtime_ns, before.st_mtime_ns))
    # So that it is read.
    for path in [pipeline.folder / SCORES, *victim.parent.glob("**/*.h5")]:
        if path != victim:
            path.unlink()
    first = pipeline.run()
    assert first.returncode != 0
    complaint = [line for line in first.stderr.splitlines() if "moved aside" in line]
    assert len(complaint) == 1
    assert str(victim.relative_to(pipeline.folder)) in complaint[0]
    pipeline.finish(SCORES)
    assert pipeline.scores() == finished.scores()


def test_a_killed_run_is_continued_by_the_same_command(finished, tmp_path):
    other = Pipeline(tmp_path / "killed")
    environment = {**os.environ, "PATH": f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"}
    started = subprocess.Popen(
        other.command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, start_new_session=True
    )
    deadline = time.monotonic() + 120
    while not other.artifacts("labels") and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(started.pid, signal.SIGTERM)
    started.wait(timeout=60)
    kept = {path: path.stat().st_mtime_ns for path in other.artifacts("codes")}
    assert kept
    other.finish(SCORES)
    assert other.scores() == finished.scores()
    assert kept == {path: path.stat().st_mtime_ns for path in kept}


TYPO = "methods.fsc_uniform.selector: unknown selector 'unifrom'; did you mean 'uniform'?"


@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [
        ("methods", {"fsc_uniform": {"selector": "unifrom"}}, TYPO),
        ("seeds", 1, "seeds: unknown key; did you mean 'seed'?"),
        ("block", 0, "block: 0 must be at least 1"),
    ],
)
def test_a_bad_config_stops_before_any_job_with_one_line(tmp_path, key, value, wanted):
    broken = Pipeline(tmp_path)
    broken.config[key] = value
    done = broken.run()
    assert done.returncode != 0
    said = [line for line in done.stderr.splitlines() if "config:" in line]
    assert said == [f"config: {wanted}"]
    assert jobs(done) == {}
    assert not (tmp_path / "results").exists()


def test_a_printed_command_can_be_run_by_hand(finished, tmp_path):
    codes = finished.artifacts("codes")[0]
    recipe = facts(codes)["trial_000"]["recipe"]
    stream = recipe.pop("stream")
    landmarks = codes.parents[1] / "landmarks.h5"
    out = tmp_path / "codes.h5"
    subprocess.run(
        [
            *(sys.executable, "-m", "lssc.pipeline.stages.code_points", "--data", finished.artifacts("data")[0]),
            *("--landmarks", landmarks, "--out", out, "--recipe", json.dumps({**recipe, "block": f"{stream}00-01"})),
        ],
        check=True,
        capture_output=True,
    )
    expected = arrays(codes)
    for name, value in arrays(out).items():
        np.testing.assert_array_equal(value, expected[name])
