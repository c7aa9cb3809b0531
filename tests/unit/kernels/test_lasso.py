"""The lasso kernel: optimality conditions and agreement with SPAMS."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lssc.data.datasets.synthetic import synthetic
from lssc.kernels import lasso, lasso_arrays
from lssc.kernels.lasso import compute_lasso_codes
from lssc.linalg.scaling import unit_rows
from lssc.parts.coders.lasso_spams import solve_by_spams

NOBODY = np.full(10_000, -1)


def codes_of(X, L, lam, own=NOBODY):
    codes, unsolved = compute_lasso_codes(X, L, own[: len(X)], lam)
    assert unsolved == 0
    return codes


def objective(X, L, codes, lam):
    return np.abs(codes).sum(axis=1) + lam / 2 * ((X - codes @ L) ** 2).sum(axis=1)


def off_by(X, L, codes, lam):
    """The largest violation of the optimality conditions, relative to 1/lam."""
    pull = lam * (X - codes @ L) @ L.T
    return np.where(codes != 0, np.abs(pull - np.sign(codes)), np.maximum(np.abs(pull) - 1, 0)).max()


@pytest.fixture(params=["gram", "no gram", "many dimensions"])
def regime(request, monkeypatch):
    """The source of inner products, which normally depends on m and D."""
    few_dimensions, few_landmarks = {"gram": (32, 2048), "no gram": (32, 0), "many dimensions": (0, 0)}[request.param]
    monkeypatch.setattr(lasso_arrays, "MAX_DIMENSIONS_BY_COORDINATES", few_dimensions)
    monkeypatch.setattr(lasso_arrays, "MAX_LANDMARKS_BY_GRAM", few_landmarks)
    return request.param


@pytest.mark.parametrize("lam", [2.0, 10.0, 100.0, 1000.0, 1e6])
@pytest.mark.parametrize("m", [5, 16, 40, 300])
def test_codes_are_optimal(m, lam, regime):
    X = unit_rows(synthetic(1500, n_clusters=5, rng=np.random.default_rng(m)).X)
    L = X[:m]
    codes = codes_of(X, L, lam).toarray()
    assert off_by(X, L, codes, lam) < 1e-6
    theirs = solve_by_spams(X, np.asfortranarray(L.T), lam).toarray()
    best = objective(X, L, theirs, lam)
    assert (objective(X, L, codes, lam) <= best * (1 + 1e-9)).all()


SCRIPT = """
import sys
import numpy as np
from lssc.kernels import lasso, lasso_path, lasso_point
from lssc.data.datasets.synthetic import synthetic
from lssc.linalg.scaling import unit_rows
for module in (lasso, lasso_path, lasso_point):
    if hasattr(module, sys.argv[1]):
        setattr(module, sys.argv[1], int(sys.argv[2]))
X = unit_rows(synthetic(60, n_clusters=3, rng=np.random.default_rng(0)).X)
codes, unsolved = lasso.compute_lasso_codes(X, X[:40], np.full(60, -1), 20.0)
np.savez(sys.argv[3], codes=codes.toarray(), unsolved=unsolved, X=X)
"""


def with_constant(name, value, folder):
    """Codes, failures and points with another constant, without the compiler, which would keep the old one."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"}
    out = folder / "codes.npz"
    subprocess.run([sys.executable, "-c", SCRIPT, name, str(value), str(out)], check=True, env=environment)
    found = np.load(out)
    return found["codes"], int(found["unsolved"]), found["X"]


@pytest.mark.parametrize("candidates", [1, 1000])
def test_codes_do_not_depend_on_the_number_of_candidates(candidates, tmp_path):
    """With one candidate nearly all landmarks join as leads; with all of them none does."""
    codes, unsolved, X = with_constant("TARGET_CANDIDATES", candidates, tmp_path)
    assert unsolved == 0
    np.testing.assert_allclose(codes, codes_of(X, X[:40], 20.0).toarray(), atol=1e-9)


def test_counts_unsolved_points(tmp_path):
    codes, unsolved, _ = with_constant("MAX_STEPS", 1, tmp_path)
    assert unsolved > 0
    assert unsolved == (codes != 0).any(axis=1).tolist().count(False)


@given(
    st.integers(1, 6),
    st.integers(1, 12),
    st.integers(0, 2**31),
    st.sampled_from([1.5, 7.0, 60.0, 5000.0]),
    st.booleans(),
)
def test_codes_are_optimal_for_degenerate_landmarks(D, m, seed, lam, grid):
    """Few dimensions, duplicates, opposites, zeros, multiples and, on a grid, ties."""
    rng = np.random.default_rng(seed)
    draw = (
        (lambda *shape: rng.integers(-2, 3, shape).astype(float))
        if grid
        else (lambda *shape: rng.standard_normal(shape))
    )
    L = draw(m, D)
    for j in range(1, m, 3):
        L[j] = rng.choice([0.0, 1.0, -1.0, 2.0]) * L[rng.integers(j)]
    X = np.concatenate([draw(10, D), L, np.zeros((1, D))])
    codes = codes_of(X, L, lam).toarray()
    lam_scale = max(1.0, np.abs(L).max() ** 2) * max(1.0, np.abs(X).max())
    assert off_by(X, L, codes, lam) < 1e-6 * lam_scale
    theirs = solve_by_spams(X, np.asfortranarray(L.T), lam).toarray()
    best = objective(X, L, theirs, lam)
    assert (objective(X, L, codes, lam) <= best * (1 + 1e-9) + 1e-12).all()


def test_regimes_differ_in_their_gram_matrices(regime):
    dictionary = lasso_arrays.make_dictionary(np.eye(4))
    assert (len(dictionary.gram) > 0) == (regime != "no gram")
    assert (len(dictionary.gram32) > 0) == (regime == "many dimensions")


@pytest.mark.parametrize("lam", [4.0, 60.0, 2000.0])
@pytest.mark.parametrize("rank", [8, 60])
def test_paths_in_single_precision_give_the_codes_of_double_precision(lam, rank, monkeypatch):
    """Short and long paths, and landmarks that depend on each other."""
    rng = np.random.default_rng(rank)
    X = unit_rows(rng.standard_normal((400, rank)) @ rng.standard_normal((rank, 60)))
    own = np.where(np.arange(400) < 90, np.arange(400), -1)
    single, unsolved = compute_lasso_codes(X, X[:90], own, lam)
    monkeypatch.setattr(lasso, "LEAST32", np.inf)
    double, _ = compute_lasso_codes(X, X[:90], own, lam)
    assert unsolved == 0
    np.testing.assert_allclose(single.toarray(), double.toarray(), atol=1e-7)


def test_points_too_long_for_single_precision_keep_their_places(monkeypatch):
    """They are solved after the others of their block, in double precision."""
    rng = np.random.default_rng(4)
    X = unit_rows(rng.standard_normal((300, 50)))
    scales = np.where(rng.random(300) < 0.3, 1e10, 1.0)
    mixed, unsolved = compute_lasso_codes(scales[:, None] * X, X[:80], NOBODY[:300], 9.0)
    monkeypatch.setattr(lasso, "LEAST32", np.inf)
    double, _ = compute_lasso_codes(scales[:, None] * X, X[:80], NOBODY[:300], 9.0)
    assert unsolved == 0
    np.testing.assert_array_equal(mixed.indptr, double.indptr)
    np.testing.assert_array_equal(mixed.indices, double.indices)
    np.testing.assert_allclose(mixed.toarray() / scales[:, None], double.toarray() / scales[:, None], atol=1e-9)


@pytest.mark.parametrize("D", [10, 50])
@pytest.mark.parametrize("scale", [1e-60, 1e-22, 1e-12, 1e-6, 1e6, 1e12, 1e22, 1e60])
def test_codes_scale_or_count_as_failed(scale, D):
    """A point and landmarks times s have the same code with lam over s squared; a point alone times s, s times it."""
    rng = np.random.default_rng(3)
    X = unit_rows(rng.standard_normal((60, D)))
    codes = codes_of(X, X[:30], 5.0).toarray()
    both, failed = compute_lasso_codes(scale * X, scale * X[:30], NOBODY[:60], 5.0 / scale**2)
    assert failed == (60 if abs(np.log10(scale)) > 18 else 0)
    alone, alone_failed = compute_lasso_codes(scale * X, X[:30], NOBODY[:60], 5.0 / scale)
    assert alone_failed == (60 if abs(np.log10(scale)) > 30 else 0)
    for found, factor, n_failed in ((both, 1.0, failed), (alone, scale, alone_failed)):
        np.testing.assert_allclose(found.toarray() / factor, 0.0 if n_failed else codes, atol=1e-9)


def test_codes_in_many_dimensions_agree_with_spams():
    """More active landmarks than PAD, and more dimensions than are checked by coordinates."""
    rng = np.random.default_rng(5)
    X = unit_rows(rng.standard_normal((300, 6)) @ rng.standard_normal((6, 120)) + rng.standard_normal((300, 120)))
    codes = codes_of(X, X[:150], 60.0, np.where(NOBODY < 0, np.arange(10_000), 0).clip(max=149)).toarray()
    assert (codes != 0).sum(axis=1).max() > 3 * lasso_arrays.PAD
    for point in (0, 7, 200):
        rest = np.delete(np.arange(150), min(point, 149))
        alone = solve_by_spams(X[[point]], np.asfortranarray(X[rest].T), 60.0).toarray()[0]
        np.testing.assert_allclose(codes[point, rest], alone, atol=1e-7)


@pytest.mark.parametrize("threads", [2, 5])
def test_codes_do_not_depend_on_threads(threads, monkeypatch):
    X = unit_rows(synthetic(3000, n_clusters=5, rng=np.random.default_rng(3)).X)
    monkeypatch.setattr(lasso, "POINTS_PER_READ", 1000)
    one, _ = compute_lasso_codes(X, X[:80], NOBODY[:3000], 10.0)
    many, _ = compute_lasso_codes(X, X[:80], NOBODY[:3000], 10.0, threads=threads)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(one, part), getattr(many, part))


def test_single_precision_errs_little():
    X = unit_rows(synthetic(2000, n_clusters=5, rng=np.random.default_rng(4)).X)
    codes, unsolved = compute_lasso_codes(X, X[:200], NOBODY[:2000], 10.0, single=True)
    exact = codes_of(X, X[:200], 10.0)
    assert unsolved == 0
    assert 0 < abs(codes - exact).max() < 1e-5
    best = objective(X, X[:200], exact.toarray(), 10.0)
    np.testing.assert_allclose(objective(X, X[:200], codes.toarray(), 10.0), best, rtol=1e-9)


@pytest.mark.parametrize("m", [117, 140, 180])
@pytest.mark.parametrize("lam", [300.0, 2e4])
def test_codes_are_optimal_where_almost_as_many_landmarks_as_dimensions_are_active(m, lam):
    """Landmarks are nearly dependent then: some take the place of others, and rounding may change a sign."""
    rng = np.random.default_rng(m)
    L, X = unit_rows(np.abs(rng.standard_normal((m, 60))) + 1), unit_rows(rng.standard_normal((60, 60)))
    codes, unsolved = compute_lasso_codes(X, L, NOBODY[:60], lam)
    assert unsolved == 0
    assert np.diff(codes.indptr).max() > 55
    C = codes.toarray()
    alone = C + (X - C @ L) @ L.T
    alone -= np.clip(alone, -1 / lam, 1 / lam)
    assert lam * np.abs(alone - C).max() < 1e-6


def test_codes_are_sorted_and_nonzero():
    X = unit_rows(synthetic(400, n_clusters=4, rng=np.random.default_rng(1)).X)
    codes = codes_of(X, X[:60], 10.0)
    assert codes.has_canonical_format
    assert (codes.data != 0).all()


def test_point_may_exclude_any_landmark():
    rng = np.random.default_rng(2)
    X = unit_rows(rng.standard_normal((50, 8)))
    own = rng.integers(-1, 20, 50)
    codes = codes_of(X, X[:20], 15.0, own).toarray()
    barred = own >= 0
    assert (codes[np.flatnonzero(barred), own[barred]] == 0).all()
    for point in np.flatnonzero(barred):
        rest = np.delete(np.arange(20), own[point])
        alone = codes_of(X[[point]], X[rest], 15.0).toarray()[0]
        np.testing.assert_allclose(codes[point, rest], alone, atol=1e-9)
