"""KFSC follows scikit-learn's conventions."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from lssc import KFSC
from lssc.data.datasets.synthetic import synthetic
from lssc.metrics import scores

VARIANTS = ["full", "minibatch", "landmarks"]
every_variant = pytest.mark.parametrize("variant", VARIANTS)


@parametrize_with_checks([KFSC(3, affine=True, variant=variant) for variant in VARIANTS])
def test_follows_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def drawn():
    return synthetic(600, n_clusters=3, ambient_dim=16, subspace_dim=4, noise=0.05, rng=np.random.default_rng(0))


@every_variant
@pytest.mark.parametrize("affine", [False, True])
def test_labels_training_points_again(drawn, variant, affine):
    model = KFSC(3, dim=4, variant=variant, landmarks=100, affine=affine, random_state=0).fit(drawn.X)
    assert_array_equal(model.predict(drawn.X), model.labels_)
    assert_array_equal([model.predict(row)[0] for row in drawn.X[:20, None]], model.labels_[:20])
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(drawn.X), model.labels_)
    assert model.dictionary_.shape == (3, 4, 16 + affine)
    assert set(model.seconds_) == {"method"}


def test_labels_new_points_as_well_as_its_own():
    points = synthetic(1200, n_clusters=3, ambient_dim=40, subspace_dim=4, noise=0.05, rng=np.random.default_rng(1))
    model = KFSC(3, dim=4, random_state=0).fit(points.X[::2])
    assert scores(points.labels[::2], model.labels_)["accuracy"] > 0.97
    assert scores(points.labels[1::2], model.predict(points.X[1::2]))["accuracy"] > 0.97


@every_variant
def test_results_do_not_depend_on_the_number_of_threads(drawn, variant):
    model = KFSC(3, variant=variant, landmarks=100, random_state=0)
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            results.append(clone(model).set_params(n_jobs=threads).fit(drawn.X).dictionary_)
    assert_array_equal(*results)


def test_reports_the_weight_that_it_used(drawn):
    assert KFSC(3, lam=0.2, max_iter=5, random_state=0).fit(drawn.X).lam_ == 0.2
    assert KFSC(3, lam=4.0, max_iter=5, random_state=0).fit(drawn.X).lam_ < 4.0


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (KFSC(None), "n_clusters=None must be a whole number from 1 on: KFSC does not estimate it"),
        (KFSC(0), "n_clusters=0 must be a whole number"),
        (KFSC(3, variant="small"), "variant='small' must be one of 'full', 'minibatch', 'landmarks'"),
        (KFSC(3, lam=0.0), "lam=0.0 must be greater than 0"),
        (KFSC(3, lam="auto"), "lam='auto' must be a finite number"),
        (KFSC(3, dim=0), "dim=0 must be at least 1"),
        (KFSC(601), "n_samples=600 should be >= n_clusters=601"),
    ],
)
def test_refuses_wrong_parameters(drawn, estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(drawn.X)


def test_predict_needs_fit(drawn):
    with pytest.raises(NotFittedError):
        KFSC().predict(drawn.X)


@every_variant
@pytest.mark.parametrize(
    "change",
    [
        lambda X: np.repeat(X[:10], 6, axis=0),
        np.ones_like,
        np.zeros_like,
        lambda X: np.where(np.arange(len(X))[:, None] % 2, X, 0.0),
        lambda X: X[:4],
        lambda X: X[:, :1],
    ],
    ids=["duplicates", "equal", "zeros", "half zeros", "few", "one feature"],
)
def test_labels_every_point_of_odd_input(drawn, variant, change):
    X = change(drawn.X)
    labels = KFSC(3, variant=variant, landmarks=10, n_init=2, max_iter=20, random_state=0).fit(X).labels_
    assert labels.shape == (len(X),)
    assert labels.min() >= 0
    assert labels.max() < 3
