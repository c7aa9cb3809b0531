"""A change in config or code reruns the stages it affects and nothing else."""

import json
import re

import pytest

from tests.workflow.conftest import SCORES, Pipeline, copy_checkout, jobs

pytestmark = pytest.mark.workflow
# The jobs of one method from its coder on.
CODER_JOBS = {"code_points": 1, "embed_points": 1, "cluster_points": 1, "score_labels": 1}
# The jobs that follow every new score, and those that follow a change in config.
SCORE_JOBS = {"gather_scores": 1, "plot_landmarks": 1, "check_claims": 1, "write_report": 1}
REPORT_JOBS = {"describe_experiment": 1, **SCORE_JOBS}


def test_second_run_does_nothing(pipeline):
    done = pipeline.run()
    assert done.returncode == 0
    assert "Nothing to be done" in done.stdout + done.stderr


def test_other_resources_rerun_nothing(pipeline):
    assert jobs(pipeline.run("--dry-run", "--set-resources", "code_points:mem_mb=9999")) == {}


def test_new_lambda_reruns_the_coder_and_what_follows(pipeline):
    pipeline.config["methods"] = {"fsc_uniform": {"coder": {"name": "lasso", "lam": 33}}}
    assert pipeline.planned() == {**CODER_JOBS, **REPORT_JOBS}
    assert pipeline.finish(SCORES) == {**CODER_JOBS, "describe_experiment": 1, "gather_scores": 1}
    pipeline.config.pop("methods")
    # The old codes are still there: only table, figures and report follow the change back.
    assert pipeline.planned() == REPORT_JOBS


def test_new_noise_level_reruns_everything(pipeline):
    pipeline.config["datasets"] = {"synthetic": {"generator": {"noise": 0.2}}}
    planned = pipeline.planned()
    assert planned["generate_data"] == 1
    assert planned["score_labels"] == 7


def test_more_kmeans_restarts_rerun_the_clustering_only(pipeline):
    pipeline.config["methods"] = {"fsc_uniform": {"clusterer": {"name": "kmeans", "n_init": 11}}}
    assert pipeline.planned() == {"cluster_points": 1, "score_labels": 1, **REPORT_JOBS}


def test_new_label_reruns_the_report_only(pipeline):
    pipeline.config["methods"] = {"esc": {"label": "Exemplars"}}
    assert pipeline.planned() == REPORT_JOBS


def test_changed_own_claims_are_judged_again(pipeline):
    claim = {"claim": "FSC wins.", "experiment": "landmarks", "kind": "more_accurate", "method": "fsc_uniform"}
    pipeline.config["claims"] = "own.yaml"
    for bound in (0, 0.1):
        (pipeline.folder / "own.yaml").write_text(json.dumps({"mine": {**claim, "than": "esc", "above": bound}}))
        assert pipeline.finish() == {"check_claims": 1, "write_report": 1}
    assert "1 claim of your own" in (pipeline.folder / "results/report.html").read_text()


@pytest.fixture
def checkout(pipeline, tmp_path):
    """The finished run with a copy of the code that a test may change."""
    return Pipeline(pipeline.folder, copy_checkout(tmp_path / "repo"))


def change(checkout, file, pattern, replacement):
    """Replace the first match in a file of the package."""
    path = checkout.repo / "workflow/lssc" / file
    text, count = re.subn(pattern, replacement, path.read_text(), count=1)
    assert count == 1
    path.write_text(text)


def test_comment_in_a_kernel_reruns_nothing(checkout):
    change(checkout, "kernels/omp.py", r"(?m)^import", "# A comment.\nimport")
    assert checkout.planned() == {}


def test_change_in_the_page_template_or_a_plot_reruns_nothing(checkout):
    change(checkout, "report/page.html", "<h2>Verdicts</h2>", "<h2>Claims</h2>")
    change(checkout, "report/curves.py", "markersize=5.5", "markersize=6")
    assert checkout.planned() == {}


def test_change_in_a_claim_judges_again(checkout):
    change(checkout, "paper/claims.py", r"at_least\(0\.9\)", "at_least(0.8)")
    assert checkout.planned() == {"check_claims": 1, "write_report": 1}


def test_change_in_a_kernel_reruns_its_coder_and_what_follows(checkout):
    change(checkout, "kernels/omp.py", "1e-10", "1e-9")
    assert checkout.planned() == {**CODER_JOBS, **SCORE_JOBS}


def test_change_in_linear_algebra_reruns_the_stages_that_use_it(checkout):
    change(checkout, "linalg/spectral.py", "= 256", "= 255")
    planned = checkout.planned()
    # Five methods embed a graph; the two variants of FSC do not.
    assert planned["embed_points"] == 5
    assert "code_points" not in planned
