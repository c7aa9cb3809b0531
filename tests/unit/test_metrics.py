import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from lssc import metrics
from lssc.metrics import scores

LABELS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40).map(np.array)


def accuracy_by_permutations(truth, predicted):
    """The definition: the best over all ways to rename the predicted labels 0..4."""
    renamings = (np.array(p) for p in itertools.permutations(range(5)))
    return max((rename[predicted] == truth).mean() for rename in renamings)


@given(LABELS)
def test_accuracy_is_the_best_over_all_matchings(pairs):
    truth, predicted = pairs.T
    assert scores(truth, predicted)["accuracy"] == pytest.approx(accuracy_by_permutations(truth, predicted))


@given(LABELS)
def test_nmi_and_ari_agree_with_scikit_learn(pairs):
    truth, predicted = pairs.T
    found = scores(truth, predicted)
    assert found["nmi"] == pytest.approx(normalized_mutual_info_score(truth, predicted), abs=1e-9)
    assert found["ari"] == pytest.approx(adjusted_rand_score(truth, predicted), abs=1e-9)


@given(LABELS)
def test_labels_are_counted_in_blocks(pairs):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metrics, "LABELS_PER_BLOCK", 7)
        table = metrics.contingency(*pairs.T)
    truth, predicted = (np.unique(labels) for labels in pairs.T)
    assert table.tolist() == [[(pairs == (i, j)).all(axis=1).sum() for j in predicted] for i in truth]


@given(LABELS, st.permutations(range(5)))
def test_scores_do_not_depend_on_label_names(pairs, names):
    truth, predicted = pairs.T
    renamed = 10 * np.array(names)[predicted] - 7
    assert scores(truth, renamed) == pytest.approx(scores(truth, predicted))


@given(LABELS, st.randoms(use_true_random=False))
def test_scores_are_symmetric_and_do_not_depend_on_order(pairs, random):
    truth, predicted = pairs.T
    shuffled = pairs[random.sample(range(len(pairs)), len(pairs))]
    assert scores(*shuffled.T) == pytest.approx(scores(truth, predicted))
    assert scores(predicted, truth) == pytest.approx(scores(truth, predicted))


@given(LABELS)
def test_scores_are_bounded_and_one_for_identical_labels(pairs):
    truth, predicted = pairs.T
    assert scores(truth, truth) == pytest.approx({"accuracy": 1, "nmi": 1, "ari": 1})
    found = scores(truth, predicted)
    assert 1 / 5 <= found["accuracy"] <= 1
    assert 0 <= found["nmi"] <= 1
    assert -1 <= found["ari"] <= 1 + 1e-12


def test_scores_other_numbers_of_clusters():
    assert scores(np.array([0, 0, 1, 1]), np.array([7, 7, 7, 7]))["accuracy"] == 0.5
    assert scores(np.array([0, 0, 1, 1]), np.array([0, 1, 2, 3]))["accuracy"] == 0.5


@pytest.mark.parametrize(("truth", "predicted"), [([0, 1], [0]), ([], [])])
def test_refuses_labels_of_different_length(truth, predicted):
    with pytest.raises(ValueError, match=f"{len(truth)} true and {len(predicted)} predicted labels"):
        scores(np.array(truth), np.array(predicted))
