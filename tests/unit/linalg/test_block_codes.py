import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lssc.linalg.block_codes import (
    Atoms,
    BlockCode,
    CodeSums,
    ridge_codes,
    shrink_rows,
    update_codes,
    zero_codes,
)
from lssc.linalg.scaling import unit_rows

K, DIM = 3, 2


@pytest.fixture
def points(rng):
    return unit_rows(rng.standard_normal((40, 7)))


@pytest.fixture
def atoms(rng):
    return Atoms(0.9 * unit_rows(rng.standard_normal((K * DIM, 7))), K)


def dense(codes, n):
    C = np.zeros((n, K * DIM))
    for j, code in enumerate(codes):
        C[code.points, j * DIM : (j + 1) * DIM] = code.values
    return C


def objective(X, C, A, lam):
    return np.square(X - C @ A).sum() / 2 + lam * np.linalg.norm(C.reshape(-1, K, DIM), axis=2).sum()


def test_shrunk_rows_minimise_length_plus_squared_distance(rng):
    V, threshold = rng.standard_normal((50, 3)), 1.2

    def cost(C):
        return threshold * np.linalg.norm(C, axis=1) + np.square(C - V).sum(axis=1) / 2

    shrunk = shrink_rows(V, threshold)
    for _ in range(200):
        assert (cost(shrunk) <= cost(shrunk + 0.1 * rng.standard_normal(V.shape)) + 1e-12).all()
    short = np.linalg.norm(V, axis=1) <= threshold
    assert 0 < short.sum() < 50
    assert_array_equal((shrunk == 0).all(axis=1), short)


def test_shrinks_zero_rows_to_zero():
    assert_array_equal(shrink_rows(np.zeros((2, 3)), 0.5), 0)


def test_update_is_a_proximal_step_on_each_block_in_turn(points, atoms):
    X, A, lam = points, atoms.rows, 0.3
    start = ridge_codes(X @ A.T, atoms)
    C = dense(start, len(X))
    for own in atoms.blocks:
        tau = np.linalg.norm(A[own], 2) ** 2
        C[:, own] = shrink_rows(C[:, own] + (X - C @ A) @ A[own].T / tau, lam / tau)
    updated = update_codes(X @ A.T, start, atoms, lam, np.zeros(K))
    assert_allclose(dense(updated, len(X)), C, atol=1e-12)
    assert (C.reshape(-1, K, DIM) == 0).all(axis=2).any()


def test_update_starts_from_codes_plus_momentum(points, atoms, rng):
    products, lam, share = points @ atoms.rows.T, 0.1, np.array([0.5, 0.2, 0.9])
    every, values, change = np.arange(40), rng.standard_normal((K, 40, DIM)), rng.standard_normal((K, 40, DIM))
    moving = [BlockCode(every, values[j], change[j]) for j in range(K)]
    moved = [BlockCode(every, values[j] + share[j] * change[j], change[j]) for j in range(K)]
    updated = update_codes(products, moving, atoms, lam, share)
    expected = dense(update_codes(products, moved, atoms, lam, np.zeros(K)), 40)
    assert_allclose(dense(updated, 40), expected, atol=1e-12)
    # The change is that of the codes, not of where the step began.
    changes = dense([BlockCode(code.points, code.change, code.change) for code in updated], 40)
    assert_allclose(changes, expected - np.concatenate(list(values), axis=1), atol=1e-12)


@pytest.mark.parametrize("lam", [0.05, 0.3])
def test_updates_converge_to_codes_that_meet_the_optimality_conditions(points, atoms, lam):
    X, A, codes = points, atoms.rows, zero_codes(atoms)
    for _ in range(3000):
        codes = update_codes(X @ A.T, codes, atoms, lam, np.zeros(K))
    C = dense(codes, len(X))
    descent = ((X - C @ A) @ A.T).reshape(-1, K, DIM)
    length = np.linalg.norm(C.reshape(-1, K, DIM), axis=2, keepdims=True)
    used = length[:, :, 0] > 0
    assert 0 < used.sum() < used.size
    assert_allclose(descent[used], lam * (C.reshape(-1, K, DIM) / np.where(length > 0, length, 1))[used], atol=1e-7)
    assert (np.linalg.norm(descent, axis=2)[~used] <= lam + 1e-9).all()


def test_ridge_codes_solve_the_regression(points, atoms):
    C, A = dense(ridge_codes(points @ atoms.rows.T, atoms), len(points)), atoms.rows
    assert_allclose((points - C @ A) @ A.T, 1e-5 * C, atol=1e-12)


def test_sums_are_those_of_the_dense_codes(points, atoms):
    X = np.concatenate([points, np.zeros((1, 7))])
    codes = update_codes(X @ atoms.rows.T, zero_codes(atoms), atoms, 0.5, np.zeros(K))
    C, sums = dense(codes, 41), CodeSums.zero(atoms)
    for some in (slice(0, 25), slice(25, 41)):
        inside = [(code.points >= some.start) & (code.points < some.stop) for code in codes]
        part = [
            BlockCode(code.points[kept] - some.start, code.values[kept], code.change[kept])
            for code, kept in zip(codes, inside, strict=True)
        ]
        sums.add(X[some], part, atoms)
    assert_allclose(sums.codes, C.T @ C, atol=1e-12)
    assert_allclose(sums.points, C.T @ X, atol=1e-12)
    assert sums.size == pytest.approx(np.square(C).sum())
    assert sums.objective(atoms, 0.5) == pytest.approx(objective(X, C, atoms.rows, 0.5))
    # The zero point is not counted.
    assert sums.uncoded == (~C[:40].any(axis=1)).sum() > 0


def test_atoms_move_downhill_and_stay_short(points, atoms):
    codes = ridge_codes(points @ atoms.rows.T, atoms)
    sums = CodeSums.zero(atoms)
    sums.add(points, codes, atoms)
    values = [sums.objective(atoms, 0.0)]
    for _ in range(5):
        atoms = atoms.moved(sums, 1)
        values.append(sums.objective(atoms, 0.0))
    assert (np.diff(values) < 0).all()
    assert (np.linalg.norm(atoms.rows, axis=1) <= 1 + 1e-12).all()
    assert_allclose(values[-1], objective(points, dense(codes, 40), atoms.rows, 0.0))


def test_atoms_stay_without_codes(atoms):
    assert atoms.moved(CodeSums.zero(atoms), 5) is atoms
