"""Every estimator follows scikit-learn's conventions, and runs the same parts as the pipeline."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import lssc
from lssc.estimators.base import UncodedPointsWarning
from lssc.metrics import scores
from lssc.parts.registry import find
from lssc.parts.seeding import rng_for

# scikit-learn's blobs in the plane lie on affine subspaces: points, not lines through the origin.
BLOBS = {"n_clusters": 3, "affine": True}
CHECKED = [
    lssc.FSC(**BLOBS),
    lssc.RefinedFSC(**BLOBS),
    lssc.ESC(**BLOBS),
    lssc.LSC(**BLOBS),
    lssc.LSC(**BLOBS, landmarks="uniform"),
    lssc.EnSC(**BLOBS),
    lssc.ADSSC(**BLOBS),
    lssc.SSC(**BLOBS),
    lssc.SSCOMP(**BLOBS, k=1, unit_norm=False),
    lssc.SSCADMM(**BLOBS),
    lssc.SSCADMM(**BLOBS, modified=False),
    lssc.TSC(**BLOBS),
    lssc.S5C(**BLOBS),
]
SMALL = {
    "FSC": lssc.FSC(3, n_landmarks=20, random_state=0),
    "RefinedFSC": lssc.RefinedFSC(3, n_landmarks=20, random_state=0),
    "ESC": lssc.ESC(3, n_landmarks=20, t=4, random_state=0),
    "LSC": lssc.LSC(3, n_landmarks=20, random_state=0),
    "LSC_uniform": lssc.LSC(3, n_landmarks=20, landmarks="uniform", r=3, random_state=0),
    "EnSC": lssc.EnSC(3, random_state=0),
    "ADSSC": lssc.ADSSC(3, random_state=0),
    "SSC": lssc.SSC(3, random_state=0),
    "SSCOMP": lssc.SSCOMP(3, k=3, random_state=0),
    "SSCADMM": lssc.SSCADMM(3, random_state=0),
    "S5C": lssc.S5C(3, n_landmarks=20, random_state=0),
    "TSC": lssc.TSC(3, q=4, random_state=0),
}
every_estimator = pytest.mark.parametrize("estimator", SMALL.values(), ids=SMALL)


@parametrize_with_checks(CHECKED)
def test_follows_scikit_learn(estimator, check):
    check(estimator)


@every_estimator
def test_runs_the_parts_of_the_pipeline(estimator, X):
    """The labels are those of the same parts, called one by one with the same generators."""
    model = clone(estimator).fit(X)
    parts, m = model._parts(len(X)), model._n_landmarks(len(X))
    points = X / np.linalg.norm(X, axis=1, keepdims=True)

    def run(kind, *args, key, **supplied):
        name, params = parts[kind]
        # The key that the pipeline has for trial 0 of the stream t from seed 0.
        rng = rng_for(0, "t", len(X), 0, *key)
        return find(kind, name)(*args, n_clusters=3, rng=rng, threads=1, **supplied, **params)

    selected = run("selector", points, m, key=("landmarks", parts["selector"][0], m))
    codes = run("coder", points, selected.for_coder, key=("codes", parts["coder"][0])).matrix
    rows = None if selected.points is not None else selected.indices
    vectors = run("embedder", codes, key=("embedding",), landmark_indices=rows).vectors
    labels = run("clusterer", vectors, key=("kmeans",)).labels
    if "refiner" in parts:
        key = ("refined", parts["refiner"][0])
        labels = run("refiner", points, labels, key=key, coordinates=vectors).labels
    assert_array_equal(labels, model.labels_)
    assert_array_equal(selected.indices, model.landmark_indices_)
    assert_array_equal(vectors, model.embedding_)


@every_estimator
def test_keeps_results_of_every_step(estimator, X):
    model = clone(estimator).fit(X)
    m = len(model.landmark_indices_)
    assert model.codes_.shape == (len(X), m)
    assert model.landmarks_.shape == (m, X.shape[1])
    width = len(model.singular_values_)
    assert width == (6 if isinstance(model, lssc.RefinedFSC) else 3)
    assert model.embedding_.shape == (len(X), width)
    assert model.cluster_centers_.shape == (3, width)
    assert set(model.seconds_) == set(model._parts(len(X)))
    assert not hasattr(model.set_params(keep_codes=False).fit(X), "codes_")


@every_estimator
def test_survives_clone_pickle_and_pipelines(estimator, X):
    model = clone(estimator).fit(X)
    assert_array_equal(pickle.loads(pickle.dumps(model)).labels_, model.labels_)
    piped = make_pipeline(StandardScaler(with_std=False), clone(estimator)).fit(X)
    assert piped[-1].labels_.shape == (len(X),)


@every_estimator
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: np.where(X.max() == X, np.nan, X), "contains NaN"),
        (lambda X: np.where(X.max() == X, np.inf, X), "contains infinity"),
        (
            lambda X: np.where(X.max() == X, 1e200, X),
            r"holds 1e\+200 at row \d+, column \d+; scale X",
        ),
        (lambda X: X[:1], "1 sample"),
        (lambda X: X[:2], r"n_samples=2 should be >= n_clusters=3"),
        (lambda X: X[:0], "0 sample"),
        (lambda X: X[:, :0], "0 feature"),
        (lambda X: X[0], "Expected 2D array"),
        (lambda X: X.astype(complex), "Complex data not supported"),
        (lambda X: np.full(X.shape, "a"), "not compatible with arrays of bytes/strings"),
    ],
)
def test_refuses_points_it_cannot_cluster(estimator, X, change, message):
    with pytest.raises(ValueError, match=message):
        clone(estimator).fit(change(X))


@pytest.mark.filterwarnings("ignore::lssc.estimators.base.UncodedPointsWarning")
@every_estimator
@pytest.mark.parametrize(
    "change",
    [
        lambda X: X.tolist(),
        lambda X: X.astype(np.float32),
        np.asfortranarray,
        lambda X: np.round(10 * X).astype(int),
        lambda X: np.repeat(X[:10], 6, axis=0),
        lambda X: np.ones_like(X),
        np.zeros_like,
        lambda X: X[:4],
    ],
    ids=["list", "float32", "Fortran", "integers", "duplicates", "equal", "zeros", "few"],
)
def test_labels_every_point_of_odd_input(estimator, X, change):
    labels = clone(estimator).fit(change(X)).labels_
    assert labels.shape == (len(change(X)),)
    assert labels.min() >= 0
    assert labels.max() < 3


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (lssc.FSC(3, lam=0.0), "lam=0.0 must be greater than 0"),
        (lssc.FSC(3, lam=-1.0), "lam=-1.0 must be greater than 0"),
        (lssc.FSC(3, lam=float("nan")), "lam=nan must be a finite number"),
        (lssc.FSC(0), "n_clusters=0 must be a whole number from 1 on"),
        (lssc.FSC(2.5), "n_clusters=2.5 must be a whole number"),
        (lssc.FSC(3, n_landmarks=0), "n_landmarks=0 must be a whole number from n_clusters=3 on"),
        (lssc.FSC(3, n_landmarks=2), "n_landmarks=2 must be a whole number from n_clusters=3 on"),
        (lssc.FSC(3, n_init=0), "n_init=0 must be at least 1"),
        (lssc.FSC(3, landmarks="unifrom"), "unknown selector 'unifrom'; did you mean 'uniform'"),
        (lssc.FSC(3, landmarks=[0, 0, 1]), "indices that repeat a point"),
        (lssc.FSC(3, landmarks=[0, 1, 1000]), "indices from 0 to 1000, not 0 to 59"),
        (lssc.ESC(3, t=0), "t=0 must be at least 1"),
        (lssc.LSC(3, r=0), "r=0 must be at least 1"),
        (lssc.LSC(3, landmarks=[0, 1]), "must be the name of a selector"),
        (lssc.LSC(3, n_landmarks=2), "n_landmarks=2 must be a whole number from n_clusters=3 on"),
        (lssc.TSC(3, q=0), "q=0 must be at least 1"),
        (lssc.SSCOMP(3, k=0), "k=0 must be at least 1"),
        (lssc.SSCADMM(3, alpha=0.0), "alpha=0.0 must be greater than 0"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_refuses_wrong_parameters(estimator, message, X):
    with pytest.raises(ValueError, match=message):
        estimator.fit(X)


def test_warns_of_points_without_a_code(X):
    with pytest.warns(UncodedPointsWarning, match="60 of 60 points have no code; use a larger lam"):
        lssc.FSC(3, n_landmarks=20, lam=0.5, random_state=0).fit(X)


def test_can_be_tuned_by_grid_search(points):
    X, labels = points
    grid = GridSearchCV(
        lssc.FSC(3, n_landmarks=20, random_state=0),
        {"lam": [0.5, 10.0]},
        scoring=lambda model, X, y: scores(np.asarray(y), model.predict(X))["accuracy"],
        cv=2,
    )
    with pytest.warns(UncodedPointsWarning):
        assert grid.fit(X, labels).best_params_ == {"lam": 10.0}


def test_needs_fit_before_predict(X):
    with pytest.raises(NotFittedError):
        lssc.FSC(3).predict(X)


def test_unknown_names_are_reported():
    assert "FSC" in dir(lssc)
    with pytest.raises(AttributeError, match="has no attribute 'FCS'"):
        _ = lssc.FCS


def test_refined_fsc_keeps_subspaces_and_predicts_by_them(X):
    model = lssc.RefinedFSC(3, n_landmarks=20, random_state=0).fit(X)
    assert model.subspaces_.means.shape == (3, X.shape[1])
    assert_array_equal(model.predict(X), model.labels_)
    assert_array_equal([model.predict(x[None])[0] for x in X[:10]], model.labels_[:10])
    far = model.score_samples(np.random.default_rng(1).standard_normal((20, X.shape[1])))
    assert far.max() < np.median(model.score_samples(X))
