import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lssc.linalg import factorization
from lssc.linalg.block_codes import RIDGE
from lssc.linalg.factorization import factorize, factorize_batches, nearest_blocks, start_atoms
from lssc.linalg.scaling import unit_rows


@pytest.fixture
def points(rng):
    """300 points near three subspaces of dimension 4 in R^15."""
    bases = [np.linalg.qr(rng.standard_normal((15, 4)))[0] for _ in range(3)]
    X = np.concatenate([rng.standard_normal((100, 4)) @ basis.T for basis in bases])
    return unit_rows(X + 0.1 * rng.standard_normal(X.shape))


@pytest.fixture
def start(points):
    return start_atoms(points, points[[0, 100, 200]], 5)


def test_starts_from_a_basis_of_the_nearest_points(points, start):
    nearest = np.argsort(-(points @ points[100]))[:5]
    block = start.rows[5:10]
    assert_allclose(block @ block.T, np.eye(5), atol=1e-12)
    assert_allclose(points[nearest] @ block.T @ block, points[nearest], atol=1e-12)


def test_start_has_zero_atoms_where_points_span_less(points):
    atoms = start_atoms(np.repeat(points[:2], 10, axis=0), points[:1], 5)
    assert_array_equal(atoms.rows.any(axis=1), [True, False, False, False, False])


def test_objective_falls_in_every_round_without_momentum(points, start):
    result = factorize(points, start, lam=0.3, max_iter=60, tol=0.0, momentum=0.0)
    assert len(result.objectives) == 60
    assert (np.diff(result.objectives) <= 1e-12).all()
    assert (np.linalg.norm(result.atoms.rows, axis=1) <= 1 + 1e-12).all()


def test_momentum_is_faster_to_the_same_minimum(points, start):
    plain, fast = (
        factorize(points, start, lam=0.3, max_iter=500, tol=1e-5, momentum=momentum) for momentum in (0.0, 0.95)
    )
    assert plain.converged
    assert fast.converged
    assert fast.objectives[4] < 0.95 * plain.objectives[4]
    assert fast.objectives[-1] == pytest.approx(plain.objectives[-1], rel=1e-6)


def test_ends_when_too_many_points_have_no_code(points, start):
    result = factorize(points, start, lam=2.0, max_iter=50, tol=0.0, max_uncoded=0.1)
    assert len(result.objectives) < 5
    assert result.uncoded >= 0.1
    result = factorize_batches(
        points, start, lam=2.0, passes=5, batch_size=50, max_uncoded=0.1, rng=np.random.default_rng(0)
    )
    assert len(result.objectives) == 1


def test_blocks_of_points_do_not_matter(points, start, monkeypatch):
    whole = factorize(points, start, lam=0.3, max_iter=10, tol=0.0)
    monkeypatch.setattr(factorization, "NUMBERS_PER_BLOCK", 7 * 15)
    parts = factorize(points, start, lam=0.3, max_iter=10, tol=0.0)
    assert_allclose(parts.atoms.rows, whole.atoms.rows, atol=1e-9)
    assert_allclose(parts.objectives, whole.objectives)
    assert_array_equal(nearest_blocks(points, unstacked(parts)), nearest_blocks(points, unstacked(whole)))


def unstacked(result):
    return result.atoms.rows.reshape(3, 5, 15)


def test_batches_come_close_to_the_objective_of_full_rounds(points, start):
    batches = factorize_batches(points, start, lam=0.3, passes=60, batch_size=100, rng=np.random.default_rng(0))
    full = factorize(points, start, lam=0.3, max_iter=300, tol=0.0)
    assert batches.objectives[-1] < batches.objectives[0]
    assert batches.objectives[-1] == pytest.approx(full.objectives[-1], rel=0.02)


def test_labels_by_least_ridge_residual(points, rng):
    dictionary = rng.standard_normal((4, 5, 15))
    # A block whose atoms are few in truth.
    dictionary[3, 2:] = dictionary[3, 0]
    residuals = []
    for A in dictionary:
        C = np.linalg.solve(A @ A.T + RIDGE * np.eye(5), A @ points.T).T
        residuals.append(np.square(points - C @ A).sum(axis=1))
    assert_array_equal(nearest_blocks(points, dictionary), np.argmin(residuals, axis=0))
