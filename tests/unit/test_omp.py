import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import orthogonal_mp

from lssc.coders import omp
from lssc.coders.omp import code_omp


@pytest.mark.parametrize("k", [1, 2, 4])
def test_codes_agree_with_scikit_learn_on_unit_norm_points(X, k):
    codes = code_omp(X, np.arange(len(X)), k=k, tol=0.0).matrix.toarray()
    for j in range(len(X)):
        others = np.delete(np.arange(len(X)), j)
        assert_allclose(codes[j, others], orthogonal_mp(X[others].T, X[j], n_nonzero_coefs=k), atol=1e-9)


def test_points_that_are_no_landmarks_may_use_every_landmark(X):
    landmarks = np.arange(1, 60, 2)
    codes = code_omp(X, landmarks, k=3, tol=0.0).matrix.toarray()
    assert_allclose(codes[::2].T, orthogonal_mp(X[landmarks].T, X[::2].T, n_nonzero_coefs=3), atol=1e-9)
    assert (codes[landmarks, np.arange(30)] == 0).all()


@pytest.mark.parametrize("chunk", [1, 7, 60])
def test_codes_do_not_depend_on_the_chunk(X, chunk, monkeypatch):
    expected = code_omp(X, np.arange(60), k=3).matrix
    monkeypatch.setattr(omp, "CHUNK", chunk)
    found = code_omp(X, np.arange(60), k=3).matrix
    assert_array_equal(found.indptr, expected.indptr)
    assert_allclose(found.toarray(), expected.toarray(), atol=1e-12)


def test_the_residual_is_orthogonal_to_the_atoms_used(X):
    codes = code_omp(X, np.arange(60), k=3).matrix.toarray()
    correlation = (X - codes @ X) @ X.T
    assert np.abs(correlation[codes != 0]).max() < 1e-9


def test_a_point_stops_early_once_its_relative_squared_residual_is_within_tolerance():
    atoms = np.eye(5)
    point = np.array([[10.0, 1.0, 0.1, 0, 0]])  # relative squared residuals: 1e-2, 1e-4, 0
    X = np.concatenate([atoms, point])
    used = [code_omp(X, np.arange(5), k=4, tol=tol).matrix[5].nnz for tol in (0.1, 5e-3, 1e-6)]
    assert used == [1, 2, 3]


def test_long_atoms_are_preferred_since_atoms_are_not_scaled():
    X = np.array([[1.0, 0.2], [1.0, 0.0], [3.0, 3.0]])
    assert code_omp(X, np.array([1, 2]), k=1).matrix[0].indices.tolist() == [1]


def test_a_duplicate_point_is_coded_by_its_twin_alone(X):
    twins = np.concatenate([X, X])
    codes = code_omp(twins, np.arange(120), k=3).matrix
    assert_array_equal(codes.indices, np.roll(np.arange(120), 60))
    assert_allclose(codes.data, 1)


def test_a_point_that_nothing_explains_has_an_empty_code():
    X = np.eye(6)[:4]
    assert code_omp(X, np.arange(4), k=2).matrix.nnz == 0


@pytest.mark.parametrize("tol", [0.0, 1e-6])
def test_atoms_of_lower_rank_than_k_still_give_finite_codes(tol):
    rng = np.random.default_rng(2)
    line = 100 * rng.standard_normal((5, 1)) * rng.standard_normal(8)
    X = np.concatenate([line, rng.standard_normal((10, 8))])
    codes = code_omp(X, np.arange(5), k=3, tol=tol).matrix
    assert np.isfinite(codes.data).all()
    assert np.abs(codes.toarray()).max() < 10
