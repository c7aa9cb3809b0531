import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import orthogonal_mp

from lssc.parts.coders import omp
from lssc.parts.coders.omp import code_omp


@pytest.mark.parametrize("k", [1, 2, 4])
def test_codes_agree_with_scikit_learn_on_unit_norm_points(X, k):
    codes = code_omp(X, np.arange(len(X)), k=k, tol=0.0).matrix.toarray()
    for j in range(len(X)):
        others = np.delete(np.arange(len(X)), j)
        assert_allclose(codes[j, others], orthogonal_mp(X[others].T, X[j], n_nonzero_coefs=k), atol=1e-9)


def test_other_points_may_use_every_landmark(X):
    landmarks = np.arange(1, 60, 2)
    codes = code_omp(X, landmarks, k=3, tol=0.0).matrix.toarray()
    assert_allclose(codes[::2].T, orthogonal_mp(X[landmarks].T, X[::2].T, n_nonzero_coefs=3), atol=1e-9)
    assert (codes[landmarks, np.arange(30)] == 0).all()


@pytest.mark.parametrize("chunk", [1, 7, 60])
def test_codes_do_not_depend_on_the_block(X, chunk, monkeypatch):
    expected = code_omp(X, np.arange(60), k=3).matrix
    monkeypatch.setattr(omp, "POINTS_PER_BLOCK", chunk)
    found = code_omp(X, np.arange(60), k=3).matrix
    assert_array_equal(found.indptr, expected.indptr)
    assert_allclose(found.toarray(), expected.toarray(), atol=1e-12)


def plain_omp(X, landmarks, k, tol=0.0):
    """Matching pursuit, point by point."""
    codes = np.zeros((len(X), len(landmarks)))
    for point, x in enumerate(X):
        chosen, residual = [], x
        allowed = landmarks != point
        for _ in range(k):
            correlation = np.abs(X[landmarks] @ residual) * allowed
            best = correlation.argmax()
            if correlation[best] <= 1e-10 * np.linalg.norm(x) * np.linalg.norm(X[landmarks[best]]):
                break
            chosen.append(best)
            allowed[best] = False
            weights = np.linalg.lstsq(X[landmarks[chosen]].T, x, rcond=None)[0]
            residual = x - weights @ X[landmarks[chosen]]
            codes[point, chosen] = weights
            if residual @ residual <= tol * (x @ x):
                break
    return codes


@pytest.mark.parametrize(("m", "dim", "k"), [(511, 3, 2), (512, 16, 6), (513, 17, 4), (5, 40, 4), (2, 1, 1)])
@pytest.mark.parametrize("tol", [0.0, 1e-2])
def test_codes_agree_with_a_plain_pursuit(m, dim, k, tol):
    n, rng = m + 5, np.random.default_rng(4)
    X = rng.standard_normal((n, dim)) * rng.uniform(0.1, 3, size=(n, 1))
    X[3] = 0
    landmarks = rng.permutation(n)[:m]
    found = code_omp(X, landmarks, k=k, tol=tol).matrix
    assert_allclose(found.toarray(), plain_omp(X, landmarks, k, tol), atol=1e-9)
    assert found.has_canonical_format


@pytest.mark.parametrize("difference", [1e-6, 1e-8, 1e-10])
def test_separates_atoms_that_single_precision_cannot(difference):
    rng = np.random.default_rng(5)
    atoms = rng.standard_normal(16) + difference * rng.standard_normal((700, 16))
    points = rng.standard_normal((40, 16))
    found = code_omp(np.concatenate([atoms, points]), np.arange(700), k=1).matrix[700:]
    correlation = np.abs(points @ atoms.T)
    assert_allclose(correlation[np.arange(40), found.indices], correlation.max(axis=1), rtol=1e-14)


@pytest.mark.parametrize("factor", [1e-60, 1e60])
def test_codes_do_not_depend_on_scale(X, factor):
    expected = code_omp(X, np.arange(60), k=3).matrix
    found = code_omp(factor * X, np.arange(60), k=3).matrix
    assert_array_equal(found.indices, expected.indices)
    assert_allclose(found.data, expected.data, rtol=1e-9)


def test_huge_point_does_not_change_other_codes(X):
    """In single precision all others are zero beside it."""
    far = np.concatenate([np.pad(X, ((0, 0), (0, 1))), 1e60 * np.eye(1, 13, 12)])
    found = code_omp(far, np.arange(61), k=3).matrix[:60, :60]
    assert_allclose(found.toarray(), code_omp(X, np.arange(60), k=3).matrix.toarray(), atol=1e-9)


def test_uses_at_most_as_many_atoms_as_dimensions():
    X = np.random.default_rng(6).standard_normal((40, 3))
    codes = code_omp(X, np.arange(40), k=39, tol=0.0).matrix
    assert np.diff(codes.indptr).max() == 3
    assert_allclose(codes @ X, X, atol=1e-9)


def test_residual_is_orthogonal_to_chosen_atoms(X):
    codes = code_omp(X, np.arange(60), k=3).matrix.toarray()
    correlation = (X - codes @ X) @ X.T
    assert np.abs(correlation[codes != 0]).max() < 1e-9


def test_stops_at_the_relative_squared_residual():
    atoms = np.eye(5)
    point = np.array([[10.0, 1.0, 0.1, 0, 0]])  # relative squared residuals: 1e-2, 1e-4, 0
    X = np.concatenate([atoms, point])
    used = [code_omp(X, np.arange(5), k=4, tol=tol).matrix[5].nnz for tol in (0.1, 5e-3, 1e-6)]
    assert used == [1, 2, 3]


def test_prefers_long_atoms():
    X = np.array([[1.0, 0.2], [1.0, 0.0], [3.0, 3.0]])
    assert code_omp(X, np.array([1, 2]), k=1).matrix[0].indices.tolist() == [1]


def test_duplicate_is_coded_by_its_twin(X):
    twins = np.concatenate([X, X])
    codes = code_omp(twins, np.arange(120), k=3).matrix
    assert_array_equal(codes.indices, np.roll(np.arange(120), 60))
    assert_allclose(codes.data, 1)


def test_orthogonal_point_has_an_empty_code():
    X = np.eye(6)[:4]
    assert code_omp(X, np.arange(4), k=2).matrix.nnz == 0


@pytest.mark.parametrize("tol", [0.0, 1e-6])
def test_dependent_atoms_give_finite_codes(tol):
    rng = np.random.default_rng(2)
    line = 100 * rng.standard_normal((5, 1)) * rng.standard_normal(8)
    X = np.concatenate([line, rng.standard_normal((10, 8))])
    codes = code_omp(X, np.arange(5), k=3, tol=tol).matrix
    assert np.isfinite(codes.data).all()
    assert np.abs(codes.toarray()).max() < 10


@pytest.mark.parametrize("spread", [1e-2, 1e-5, 1e-8])
def test_uses_nearly_parallel_atoms_up_to_their_rank(spread):
    rng = np.random.default_rng(1)
    plane = np.linalg.qr(rng.standard_normal((6, 3)))[0].T
    atoms = ([1, 0, 0] + spread * rng.standard_normal((30, 3))) @ plane
    codes = code_omp(np.concatenate([atoms, rng.standard_normal((50, 6))]), np.arange(30), k=6, tol=0.0).matrix[30:]
    assert_array_equal(np.diff(codes.indptr), 3)
    assert np.abs(codes.data).max() < 10 / spread


def test_chooses_a_long_atom_once(X):
    """The rounding error of its correlation exceeds the correlations of the short ones."""
    atoms = np.concatenate([1e13 * X[:1], 1e-6 * X[1:30]])
    codes = code_omp(np.concatenate([atoms, X[30:]]), np.arange(30), k=3, tol=0.0).matrix[30:].toarray()
    assert_array_equal((codes != 0).sum(axis=1), 3)
