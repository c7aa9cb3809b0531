"""Trials do not depend on how they are split into jobs, nor on the number of cores."""

import numpy as np
import pytest

from tests.workflow.conftest import SCORES, Pipeline, facts

pytestmark = pytest.mark.workflow


def use_methods(pipeline, *methods):
    pipeline.experiment["methods"] = list(methods)


def test_labels_and_scores_do_not_depend_on_cores_or_blocks(finished, tmp_path):
    # The finished run has both trials in one job, on two cores.
    single = Pipeline(tmp_path / "single")
    single.config["block"] = 1
    single.finish(SCORES, cores=1)
    assert single.scores() == finished.scores()
    expected = finished.labels()
    labels = single.labels()
    assert labels.keys() == expected.keys()
    assert len(labels) == 7 * 2
    for run, values in labels.items():
        np.testing.assert_array_equal(values, expected[run], err_msg=str(run))


def test_more_trials_compute_only_the_new_ones(pipeline):
    before = {path: path.stat().st_mtime_ns for path in pipeline.artifacts("codes")}
    use_methods(pipeline, "fsc_uniform", "ssc_omp")
    pipeline.experiment["trials"] = 3
    done = pipeline.finish(SCORES)
    assert (done["generate_data"], done["code_points"]) == (1, 2)
    assert before == {path: path.stat().st_mtime_ns for path in before}
    assert sum(line.count(",2,fsc_uniform,") for line in pipeline.scores()) == 1


def test_larger_block_copies_finished_trials(pipeline):
    use_methods(pipeline, "fsc_uniform")
    pipeline.config["block"] = 4
    pipeline.experiment["trials"] = 3
    pipeline.finish(SCORES)
    [wide] = [path for path in pipeline.artifacts("codes") if "t00-02" in str(path)]
    old, new = facts(str(wide).replace("t00-02", "t00-01")), facts(wide)
    # Equal seconds: these trials were copied, not computed again.
    assert {trial: new[trial]["seconds"] for trial in old} == {trial: old[trial]["seconds"] for trial in old}
    assert len(new) == 3
