"""Parameters left to the estimators: lam="auto", n_landmarks="auto" and n_clusters=None."""

import pickle
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import lssc
from lssc.estimators.automatic import MAX_LANDMARKS, Rule, count_clusters
from lssc.linalg.scaling import unit_rows
from lssc.metrics import scores

AUTO = {
    "FSC": lssc.FSC(3, lam="auto", n_landmarks="auto", random_state=0),
    "ESC": lssc.ESC(3, lam="auto", n_landmarks="auto", random_state=0),
    "SSC": lssc.SSC(3, lam="auto", random_state=0),
}
EVERY = {**AUTO, "SSCOMP": lssc.SSCOMP(3, k=5, random_state=0), "SSCADMM": lssc.SSCADMM(3, random_state=0)}
RULE = Rule(equal_lengths=5.0, other_lengths=20.0, least=500, each=100, points_each=4)
with_lam = pytest.mark.parametrize("estimator", AUTO.values(), ids=AUTO)
every_estimator = pytest.mark.parametrize("estimator", EVERY.values(), ids=EVERY)


def drawn(ambient_dim, subspace_dim, n=300):
    """Points near three independent subspaces, with a little noise, and their labels."""
    rng = np.random.default_rng(5)
    pieces = [rng.normal(size=(n // 3, subspace_dim)) @ rng.normal(size=(subspace_dim, ambient_dim)) for _ in range(3)]
    X = np.concatenate(pieces)
    return X + 0.05 * rng.normal(size=X.shape), np.repeat(np.arange(3), n // 3)


@with_lam
def test_scaling_all_points_leaves_the_codes_the_same(estimator, X):
    model = clone(estimator).set_params(unit_norm=False).fit(X)
    # A power of two: rounding must not decide between points that are equally far.
    scaled = clone(model).fit(1024 * X)
    assert scaled.lam_ == pytest.approx(model.lam_ / 1024**2, rel=1e-9)
    assert_allclose(scaled.codes_.toarray(), model.codes_.toarray(), atol=1e-9)
    assert scores(model.labels_, scaled.labels_)["accuracy"] == 1


@with_lam
@pytest.mark.parametrize(("ambient_dim", "subspace_dim"), [(16, 3), (500, 10)])
@pytest.mark.parametrize("unit_norm", [True, False], ids=["unit norm", "raw"])
def test_rules_cluster_well_in_16_and_500_dimensions(estimator, ambient_dim, subspace_dim, unit_norm):
    X, classes = drawn(ambient_dim, subspace_dim)
    labels = clone(estimator).set_params(unit_norm=unit_norm).fit(X).labels_
    assert scores(classes, labels)["accuracy"] > 0.95


@with_lam
def test_keeps_the_values_that_it_used(estimator, X):
    model = clone(estimator).fit(X)
    assert model.lam_ > 0
    assert model.n_clusters_ == 3
    assert model.n_landmarks_ == len(model.landmark_indices_) <= len(X)
    assert clone(model).set_params(lam=7.5).fit(X).lam_ == 7.5


def test_equals_the_same_number_given_by_hand(X):
    model = clone(AUTO["FSC"]).fit(X)
    by_hand = lssc.FSC(3, lam=model.lam_, n_landmarks=model.n_landmarks_, random_state=0).fit(X)
    assert_array_equal(by_hand.labels_, model.labels_)


def test_lam_of_points_without_correlation_is_finite(rng):
    assert RULE.lam(np.zeros((5, 3)), rng=rng) == 5.0
    assert RULE.lam(np.eye(4), rng=rng) == 5.0


def test_one_outlier_does_not_change_lam(rng):
    X = unit_rows(drawn(16, 3, n=600)[0])
    outlier = np.vstack([X, 1e-9 * X[:1]])
    lam = [RULE.lam(points, rng=np.random.default_rng(0)) for points in (X, outlier)]
    assert lam[1] == pytest.approx(lam[0], rel=0.02)


def test_lam_of_points_of_other_lengths_suits_the_short_ones(rng):
    X = unit_rows(rng.normal(size=(200, 5)))
    stretched = X * rng.uniform(0.5, 2, size=(200, 1))
    short = RULE.lam(0.5 * X, rng=np.random.default_rng(0))
    assert RULE.lam(X, rng=np.random.default_rng(0)) < RULE.lam(stretched, rng=np.random.default_rng(0)) < 2 * short


@pytest.mark.parametrize(
    ("n", "n_clusters", "expected"),
    [(10**6, 2, 500), (10**6, 9, 900), (200, 3, 50), (200, 8, 80), (30, 8, 30), (10**6, 200, MAX_LANDMARKS)],
)
def test_number_of_landmarks_follows_points_and_clusters(n, n_clusters, expected):
    assert RULE.n_landmarks(n, n_clusters) == expected


@every_estimator
def test_finds_the_number_of_clear_clusters(estimator):
    X, classes = drawn(100, 4)
    model = clone(estimator).set_params(n_clusters=None).fit(X)
    assert model.n_clusters_ == 3
    assert model.eigengaps_[1:].argmax() == 1
    assert scores(classes, model.labels_)["accuracy"] > 0.95


@every_estimator
def test_labels_are_those_of_the_estimated_number(estimator, X):
    changes = {"n_landmarks": 20} if "n_landmarks" in estimator.get_params() else {}
    model = clone(estimator).set_params(n_clusters=None, max_clusters=6, **changes).fit(X)
    known = clone(model).set_params(n_clusters=model.n_clusters_).fit(X)
    assert model.eigengaps_.shape == (6,)
    assert_array_equal(model.labels_, known.labels_)
    assert_array_equal(model.embedding_, known.embedding_)


def test_second_fit_with_known_number_has_no_gaps(X):
    model = lssc.FSC(None, random_state=0).fit(X)
    assert not hasattr(model.set_params(n_clusters=3).fit(X), "eigengaps_")


@pytest.mark.parametrize(
    ("values", "expected"),
    [([1.0, 0.9, 0.8, 0.3, 0.2], 3), ([1.0, 0.2, 0.15, 0.0], 3), ([1.0, 0.5], 1), ([0.0, 0.0, 0.0], 2)],
    ids=["clear", "first gap does not count", "two values", "no values"],
)
def test_counts_clusters_by_the_largest_gap(values, expected):
    number, gaps = count_clusters(np.array(values))
    assert number == expected
    assert_allclose(gaps, -np.diff(values))


def test_estimated_number_survives_predict_pickle_and_grid_search(points):
    X, labels = points
    model = lssc.FSC(None, max_clusters=6, lam="auto", n_landmarks=20, random_state=0).fit(X)
    restored = pickle.loads(pickle.dumps(model))
    assert_array_equal(restored.predict(X), model.labels_)
    assert restored.transform(X).shape == (len(X), model.n_clusters_)
    assert len(model.get_feature_names_out()) == model.n_clusters_

    def accuracy(model, X, y):
        return scores(np.asarray(y), model.predict(X))["accuracy"] if model.n_clusters_ == 3 else 0.0

    grid = GridSearchCV(clone(model), {"lam": ["auto", 20.0]}, scoring=accuracy, cv=2).fit(X, labels)
    assert set(grid.best_params_) == {"lam"}


@pytest.mark.filterwarnings("ignore::lssc.estimators.base.UncodedPointsWarning")
@every_estimator
@pytest.mark.parametrize("change", [np.zeros_like, np.ones_like, lambda X: X[:2], lambda X: X[:4]])
def test_estimates_a_number_for_odd_input(estimator, change, X):
    points = change(X)
    model = clone(estimator).set_params(n_clusters=None).fit(points)
    assert 1 <= model.n_clusters_ <= len(points)
    assert model.labels_.max() < model.n_clusters_


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (lssc.FSC(3, lam="atuo"), "^lam='atuo' must be a number greater than 0 or \"auto\"$"),
        (lssc.SSC(3, lam="atuo"), "^lam='atuo' must be a number greater than 0 or \"auto\"$"),
        (lssc.ESC(3, n_landmarks="all"), "^n_landmarks='all' must be a whole number from n_clusters=3 on or \"auto\"$"),
        (lssc.FSC("auto"), "^n_clusters='auto' must be a whole number from 1 on, or None$"),
        (lssc.FSC(None, max_clusters=1), "^max_clusters=1 must be a whole number from 2 on$"),
    ],
    ids=["lam of FSC", "lam of SSC", "n_landmarks", "n_clusters", "max_clusters"],
)
def test_reports_wrong_words(estimator, message, X):
    with pytest.raises(ValueError, match=message):
        estimator.fit(X)


def test_plot_highlights_the_number_used(X):
    pytest.importorskip("matplotlib").use("Agg")
    model = lssc.FSC(None, max_clusters=6, n_landmarks=20, random_state=0).fit(X)
    axes = lssc.plot_eigengaps(model)
    assert_allclose([bar.get_height() for bar in axes.patches], model.eigengaps_)
    colours = [bar.get_facecolor() for bar in axes.patches]
    odd_one = [place for place, colour in enumerate(colours) if colours.count(colour) == 1]
    assert odd_one == [model.n_clusters_ - 1]
    assert lssc.plot_eigengaps(model, ax=axes) is axes


def test_plot_reports_what_is_missing(X, monkeypatch):
    with pytest.raises(NotFittedError):
        lssc.plot_eigengaps(lssc.FSC(None))
    with pytest.raises(ValueError, match="FSC has no eigengaps: fit it with n_clusters=None"):
        lssc.plot_eigengaps(lssc.FSC(3, random_state=0).fit(X))
    model = lssc.FSC(None, random_state=0).fit(X)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"^plot_eigengaps needs matplotlib; install it by: pip install matplotlib$"):
        lssc.plot_eigengaps(model)
