import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Lasso

from lssc.errors import InputError
from lssc.kernels import lasso as kernel
from lssc.parts.coders import lasso_spams
from lssc.parts.coders.lasso import code_lasso
from lssc.parts.coders.lasso_spams import code_lasso_spams, solve_by_spams

LANDMARKS = np.array([31, 2, 17, 58, 40, 5, 22, 49, 11, 26])
OWN = (LANDMARKS, np.arange(len(LANDMARKS)))


@pytest.fixture(params=[code_lasso, code_lasso_spams], ids=["kernel", "spams"])
def code(request):
    """Both programs for the same problem."""
    return request.param


def kkt_violation(X, codes, atoms, lam, forbidden=()):
    """Largest violation of the optimality conditions of min |c|_1 + lam/2 |x - L'c|^2."""
    pull = lam * (X - codes @ atoms) @ atoms.T
    off = np.where(codes != 0, np.abs(pull - np.sign(codes)), np.maximum(np.abs(pull) - 1, 0))
    if len(forbidden):
        off[forbidden] = 0
    return off.max()


@pytest.mark.parametrize("lam", [1.5, 10.0, 200.0])
def test_codes_meet_the_optimality_conditions_of_eq_5(code, X, lam):
    codes = code(X, LANDMARKS, lam=lam).matrix.toarray()
    assert kkt_violation(X, codes, X[LANDMARKS], lam, forbidden=OWN) < 1e-9 * lam


@pytest.mark.parametrize("lam", [1.5, 10.0, 200.0])
def test_codes_meet_the_optimality_conditions_of_eq_4(code, X, lam):
    codes = code(X, LANDMARKS, lam=lam, exclude_self=False).matrix.toarray()
    assert kkt_violation(X, codes, X[LANDMARKS], lam) < 1e-9 * lam


@pytest.mark.parametrize("lam", [3.0, 30.0])
def test_codes_agree_with_coordinate_descent(code, X, lam):
    codes = code(X, LANDMARKS, lam=lam, exclude_self=False).matrix.toarray()
    # scikit-learn: min 1/(2 D) |y - A w|^2 + alpha |w|_1.
    model = Lasso(alpha=1 / (lam * X.shape[1]), fit_intercept=False, tol=1e-12, max_iter=100_000)
    expected = np.array([model.fit(X[LANDMARKS].T, x).coef_.copy() for x in X])
    assert_allclose(codes, expected, atol=1e-6)


@pytest.mark.parametrize("lam", [3.0, 30.0, 1000.0])
def test_landmark_is_coded_without_its_own_atom(code, X, lam):
    codes = code(X, LANDMARKS, lam=lam).matrix.toarray()
    assert (codes[OWN] == 0).all()
    for i, point in enumerate(LANDMARKS):
        rest = np.delete(np.arange(len(LANDMARKS)), i)
        alone = solve_by_spams(X[[point]], np.asfortranarray(X[LANDMARKS[rest]].T), lam).toarray()[0]
        assert_allclose(codes[point, rest], alone, atol=1e-7)


@pytest.mark.parametrize(("scale", "lam"), [(1.0, 1e7), (1000.0, 10.0)])
def test_self_exclusion_holds_for_long_points_and_large_lam(code, X, scale, lam):
    long = scale * X
    codes = code(long, LANDMARKS[:4], lam=lam).matrix.toarray()
    rest = LANDMARKS[1:4]
    alone = solve_by_spams(long[LANDMARKS[:1]], np.asfortranarray(long[rest].T), lam).toarray()[0]
    assert_allclose(codes[LANDMARKS[0], 1:], alone, atol=1e-6)


def test_scaling_the_points_is_the_same_as_scaling_lambda(code, X):
    once = code(X, LANDMARKS, lam=90.0).matrix.toarray()
    assert_allclose(code(3 * X, LANDMARKS, lam=10.0).matrix.toarray(), once, atol=1e-6)


def test_codes_are_zero_up_to_the_smallest_useful_lambda(code, X):
    similarity = np.abs(X @ X[LANDMARKS].T)
    similarity[OWN] = 0
    threshold = 1 / similarity.max()
    assert code(X, LANDMARKS, lam=0.999 * threshold).matrix.nnz == 0
    assert code(X, LANDMARKS, lam=1.001 * threshold).matrix.nnz == 1


def test_codes_follow_the_order_of_the_landmarks(code, X):
    shuffled = np.random.default_rng(3).permutation(len(LANDMARKS))
    codes = code(X, LANDMARKS, lam=10.0).matrix.toarray()
    assert_allclose(code(X, LANDMARKS[shuffled], lam=10.0).matrix.toarray(), codes[:, shuffled], atol=1e-9)


@pytest.mark.parametrize("block", [1, 3, 10])
def test_codes_do_not_depend_on_the_block(code, X, block, monkeypatch):
    expected = code(X, LANDMARKS, lam=10.0).matrix.toarray()
    monkeypatch.setattr(lasso_spams, "LANDMARKS_PER_BLOCK", block)
    monkeypatch.setattr(kernel, "NUMBERS_PER_BLOCK", 12 * block)
    monkeypatch.setattr(kernel, "MIN_POINTS_PER_BLOCK", 1)
    monkeypatch.setattr(kernel, "POINTS_PER_READ", 7)
    assert_allclose(code(X, LANDMARKS, lam=10.0).matrix.toarray(), expected, atol=1e-12)


def test_duplicate_of_a_landmark_may_use_it(code, X):
    twin = X.copy()
    twin[LANDMARKS[1]] = twin[LANDMARKS[0]]
    codes = code(twin, LANDMARKS, lam=10.0).matrix.toarray()
    assert codes[LANDMARKS[0], 1] == pytest.approx(0.9)
    assert codes[LANDMARKS[1], 0] == pytest.approx(0.9)


@pytest.mark.parametrize("far", [slice(None), LANDMARKS, [59]], ids=["all", "landmarks", "one point"])
@pytest.mark.parametrize("size", [1e19, -1e30, 1e99])
def test_refuses_points_too_long_for_single_precision(X, far, size, monkeypatch):
    """Infinite products would crash the kernel."""
    monkeypatch.setattr(kernel, "POINTS_PER_READ", 7)
    long = X.copy()
    long[far] = size
    with pytest.raises(InputError, match=r"coordinates of up to .* need precision: double; single takes up to 2\.9"):
        code_lasso(long, LANDMARKS, lam=10.0, precision="single")


@pytest.mark.parametrize("sign", [1, -1])
def test_single_precision_codes_long_points(X, sign):
    long = X.copy()
    long[:, 0] = sign
    long *= np.sqrt(kernel.MAX_PRODUCT32 / X.shape[1]) / np.abs(long).max()
    single, double = (code_lasso(long, LANDMARKS, lam=1e-36, precision=p).matrix for p in ("single", "double"))
    assert double.nnz
    assert_allclose(single.toarray(), double.toarray(), atol=1e-4)


@pytest.mark.parametrize("name", ["lasso", "elastic_net"])
def test_warm_up_compiles_all_that_a_call_needs(name):
    """In few and in many dimensions, with short and long codes: compilation must not count as time of the coder."""
    script = f"""
import numpy as np
from lssc.kernels import lasso
from lssc.parts.registry import find
find("coder", "{name}").warm_up()
kernels = lasso._code_block, lasso._code_block_by_single_paths
ready = [list(kernel.signatures) for kernel in kernels]
X = np.random.default_rng(0).standard_normal((60, 50))
for points in (X[:, :10], X):
    for strength in (2.0, 500.0):
        find("coder", "{name}")(points, np.arange(20), **{{"{"lam" if name == "lasso" else "gamma"}": strength}})
assert all(ready)
assert ready == [list(kernel.signatures) for kernel in kernels]
"""
    subprocess.run([sys.executable, "-c", script], check=True)
