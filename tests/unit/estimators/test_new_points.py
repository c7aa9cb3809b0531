"""FSC labels new points as it labels its own, in blocks of rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import lssc
from lssc.data.datasets.synthetic import synthetic
from lssc.estimators import inputs
from lssc.metrics import scores


def drawn(n, seed):
    return synthetic(n, n_clusters=5, ambient_dim=16, subspace_dim=4, noise=0.05, rng=np.random.default_rng(seed))


@pytest.mark.parametrize("options", [{}, {"unit_norm": False}, {"affine": True}, {"scale_rows": True}], ids=str)
@pytest.mark.parametrize("landmarks", ["uniform", "kmedoids", "rows"])
def test_gives_training_points_their_own_labels(X, landmarks, options):
    chosen = np.arange(57, 0, -3) if landmarks == "rows" else landmarks
    model = lssc.FSC(3, n_landmarks=20, landmarks=chosen, random_state=0, **options).fit(X)
    assert_array_equal(model.predict(X), model.labels_)
    assert_allclose(model.transform(X), model.embedding_, atol=1e-10)
    landmarks = X[model.landmark_indices_]
    assert_array_equal(model.transform(landmarks), model.embedding_[model.landmark_indices_])


class CentresFSC(lssc.FSC):
    """FSC with centres of K-means as landmarks."""

    def _parts(self, n):
        return {**super()._parts(n), "selector": ("kmeans", {"centres": True})}


def test_lsc_gives_training_points_their_own_labels(X):
    for landmarks in ("kmeans", "uniform"):
        model = lssc.LSC(3, n_landmarks=20, landmarks=landmarks, random_state=0).fit(X)
        assert_array_equal(model.predict(X), model.labels_)
        assert_allclose(model.transform(X), model.embedding_, atol=1e-10)
        # A second fit does not keep the width of the first one.
        assert model.fit(10 * X[:40]).sigma_ != lssc.LSC(3, n_landmarks=20, random_state=0).fit(X).sigma_


def test_centres_as_landmarks_label_training_points_alike(X):
    model = CentresFSC(3, n_landmarks=20, random_state=0).fit(X)
    points = X / np.linalg.norm(X, axis=1, keepdims=True)
    distances = np.linalg.norm(points[:, None] - model.landmarks_, axis=2)
    # Centres of single points are these points; most centres are no points.
    assert (distances.min(axis=0) > 1e-3).sum() > 10
    assert len(set(model.landmark_indices_)) == 20
    assert_array_equal(model.predict(X), model.labels_)
    assert_allclose(model.transform(X), model.embedding_, atol=1e-10)


@pytest.mark.parametrize("estimator", [lssc.FSC, lssc.LSC])
def test_labels_do_not_depend_on_what_is_labelled_together(estimator, monkeypatch):
    X = drawn(600, 0).X
    model = estimator(5, n_landmarks=100, random_state=0).fit(X[:300])
    labels, vectors = model.predict(X), model.transform(X)
    monkeypatch.setattr(inputs, "ROWS_PER_BLOCK", 7)
    assert_array_equal(model.predict(X), labels)
    assert_allclose(model.transform(X), vectors, atol=1e-10)
    # Some landmarks, some of the other training points, some new points.
    for row in (*model.landmark_indices_[:10], *range(280, 320)):
        assert model.predict(X[row : row + 1]) == labels[row]


@pytest.mark.parametrize("scale_rows", [False, True])
def test_labels_new_points_as_well_as_its_own(scale_rows):
    """Mean accuracies of five draws differ by less than .01."""
    own, new = [], []
    for seed in range(5):
        points, order = drawn(4000, seed), np.random.default_rng(seed).permutation(4000)
        train, test = order[:2000], order[2000:]
        model = lssc.FSC(5, n_landmarks=300, scale_rows=scale_rows, random_state=0).fit(points.X[train])
        own.append(scores(points.labels[train], model.labels_)["accuracy"])
        new.append(scores(points.labels[test], model.predict(points.X[test]))["accuracy"])
    assert np.mean(own) > 0.9
    assert np.mean(new) == pytest.approx(np.mean(own), abs=0.01)
