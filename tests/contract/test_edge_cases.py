"""Zero and duplicate points, empty codes, disconnected graphs, ties, extreme sizes give finite, repeatable results."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from lssc.linalg.scaling import unit_rows
from lssc.parts.clusterers.kmeans import cluster_kmeans
from lssc.parts.registry import find

N, D = 24, 6
# Division by zero is an error even if it does not reach the result.
pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def draw(seed=0):
    return np.random.default_rng(seed).standard_normal((N, D))


def with_rows(rows, value):
    X = draw()
    X[rows] = value
    return X


POINTS = {
    "plain": draw(),
    "some zero points": with_rows(slice(0, 6), 0),
    "all points zero": np.zeros((N, D)),
    "duplicates": np.repeat(draw()[:8], 3, axis=0),
    "all points equal": np.ones((N, D)),
    "opposite pairs": np.concatenate([draw()[:12], -draw()[:12]]),
    "collinear": np.arange(1.0, N + 1)[:, None] * draw()[0],
    "orthogonal groups": np.kron(np.eye(3), np.ones((8, 1))) @ np.eye(3, D),
    "one point far off": with_rows(0, 1e6),
    "tiny": 1e-8 * draw(),
    "one dimension": draw()[:, :1],
}
SELECTORS = {
    "uniform": {}, "farthest_first": {"lam": 10.0}, "s5c": {"lam": 10.0},
    "kmedoids": {}, "kmedoids_full": {}, "fasterpam": {},
}  # fmt: skip
CODERS = {
    "lasso": {"lam": 10.0},
    "lasso with self": {"lam": 10.0, "exclude_self": False},
    "omp": {"k": 2},
    "thresholded": {"q": 3},
    "admm": {"alpha": 20.0},
    "admm_modified": {"alpha": 20.0},
}
EMBEDDERS = {
    "landmark_svd": {},
    "landmark_svd by svd": {"solver": "svd"},
    "landmark_svd with unit rows": {"scale_rows": True},
    "affinity": {},
    "affinity unscaled": {"scale_codes": False, "scale_rows": False},
    "neighbours": {"t": 3},
    "neighbours of many": {"t": 12},
    "neighbours of raw codes": {"t": 3, "unit_codes": False},
}


def call(kind, table, name, *args, **given):
    part = find(kind, name.split(" ")[0])
    return part(*args, **table[name], **given, rng=np.random.default_rng(3))


@pytest.mark.parametrize("m", [1, 3, N - 1, N])
@pytest.mark.parametrize("points", POINTS)
@pytest.mark.parametrize("selector", SELECTORS)
def test_selectors_return_m_distinct_points(selector, points, m):
    one, two = (call("selector", SELECTORS, selector, POINTS[points], m).indices for _ in range(2))
    assert_array_equal(one, two)
    assert len(one) == len(set(one.tolist())) == m
    assert set(one.tolist()) <= set(range(N))


@pytest.mark.parametrize("unit", [True, False], ids=["unit", "raw"])
@pytest.mark.parametrize("points", POINTS)
@pytest.mark.parametrize("coder", CODERS)
def test_coders_return_finite_codes(coder, points, unit):
    X = unit_rows(POINTS[points]) if unit else POINTS[points]
    one, two = (call("coder", CODERS, coder, X, np.arange(N)).matrix for _ in range(2))
    assert one.shape == (N, N)
    assert np.isfinite(one.data).all()
    assert_array_equal(one.toarray(), two.toarray())
    zero = ~X.any(axis=1)
    assert not one.toarray()[zero].any()
    assert not one.toarray()[:, zero].any()


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("points", POINTS)
@pytest.mark.parametrize("coder", ["lasso", "lasso with self"])
def test_coders_return_finite_codes_for_few_landmarks(coder, points, m):
    codes = call("coder", CODERS, coder, POINTS[points], np.arange(m)[::-1]).matrix
    assert codes.shape == (N, m)
    assert np.isfinite(codes.data).all()


def blocks(*sizes):
    """Codes in which points use all others of their block; a block of one point has no code."""
    return sparse.block_diag([np.ones((s, s)) - np.eye(s) for s in sizes], format="csr")


def uneven(codes, seed=1):
    codes = sparse.csr_matrix(codes)
    codes.data *= np.random.default_rng(seed).uniform(0.5, 2, codes.nnz)
    return codes


CODES = {
    "three equal pieces, all ties": blocks(8, 8, 8),
    "exactly three pieces": uneven(blocks(10, 8, 6)),
    "more pieces than clusters": uneven(blocks(7, 6, 5, 4, 2)),
    "two pieces": uneven(blocks(14, 10)),
    "one piece of ties": blocks(24),
    "isolated points": uneven(blocks(10, 8, 1, 1, 1, 1, 1, 1)),
    "pairs only": blocks(*[2] * 12),
    "one pair, no other code": blocks(2, *[1] * 22),
    "no codes at all": sparse.csr_matrix((N, N)),
    "negative codes": -uneven(blocks(10, 8, 6)),
    "equal codes": sparse.csr_matrix(np.ones((N, N))),
    "one landmark used by all": sparse.csr_matrix((np.ones(N), (np.arange(N), np.zeros(N, int))), shape=(N, N)),
    "huge and tiny codes": sparse.csr_matrix(sparse.diags(10.0 ** np.linspace(-12, 12, N)) @ uneven(blocks(10, 8, 6))),
}
# Codes with few distinct singular values, which a truncated SVD finds for small K only.
TIED = ["pairs only", "one pair, no other code", "no codes at all"]
CASES = [(e, c, K) for e in EMBEDDERS for c in CODES for K in ((3,) if "by svd" in e and c in TIED else (1, 3, N))]


@pytest.mark.parametrize(("embedder", "codes", "K"), CASES)
def test_embedders_return_finite_coordinates(embedder, codes, K):
    one, two = (call("embedder", EMBEDDERS, embedder, CODES[codes], n_clusters=K) for _ in range(2))
    assert one.vectors.shape == (N, K)
    assert np.isfinite(one.vectors).all()
    assert np.isfinite(one.values).all()
    assert_allclose(one.vectors, two.vectors, atol=1e-12 if "by svd" in embedder else 0, rtol=0)
    if embedder.startswith("landmark_svd"):
        assert not one.vectors[~CODES[codes].toarray().any(axis=1)].any()


@pytest.mark.parametrize("codes", ["three equal pieces, all ties", "exactly three pieces"])
@pytest.mark.parametrize("embedder", EMBEDDERS)
def test_embedders_separate_three_components(embedder, codes, rng):
    vectors = call("embedder", EMBEDDERS, embedder, CODES[codes], n_clusters=3).vectors
    labels = cluster_kmeans(vectors, n_clusters=3, rng=rng).labels
    sizes = [8, 8, 8] if "equal" in codes else [10, 8, 6]
    pieces = np.split(labels, np.cumsum(sizes)[:-1])
    assert [len(set(piece)) for piece in pieces] == [1, 1, 1]
    assert len({piece[0] for piece in pieces}) == 3


METHODS = [
    ("uniform", "lasso", "landmark_svd"),
    ("farthest_first", "lasso with self", "neighbours of many"),
    ("kmedoids", "lasso", "landmark_svd with unit rows"),
    ("fasterpam", "omp", "landmark_svd"),
]


def labels_by(method, X, m, K):
    landmarks = call("selector", SELECTORS, method[0], X, m).indices
    codes = call("coder", CODERS, method[1], X, landmarks).matrix
    vectors = call("embedder", EMBEDDERS, method[2], codes, n_clusters=K).vectors
    return cluster_kmeans(vectors, n_clusters=K, rng=np.random.default_rng(0)).labels


@pytest.mark.parametrize("points", ["plain", "some zero points", "duplicates", "opposite pairs"])
@pytest.mark.parametrize(("m", "K"), [(3, 3), (N, 3), (8, 1), (N, 1)], ids=["m=K", "m=n", "K=1", "m=n, K=1"])
@pytest.mark.parametrize("method", METHODS, ids=[m[0] for m in METHODS])
def test_methods_run_at_extreme_m_and_k(method, m, K, points):
    labels = labels_by(method, POINTS[points], m, K)
    assert labels.shape == (N,)
    assert set(labels) <= set(range(K))


# ESC gets fewer exemplars: each codes itself, so half of the points would be isolated.
@pytest.mark.parametrize(
    ("method", "m"), list(zip(METHODS, (45, 15, 45, 45), strict=True)), ids=[m[0] for m in METHODS]
)
def test_methods_separate_orthogonal_subspaces(method, m):
    labels = np.repeat(np.arange(3), 30)
    bases = np.eye(12).reshape(3, 4, 12)
    X = unit_rows(np.einsum("pd,pdD->pD", np.random.default_rng(11).standard_normal((90, 4)), bases[labels]))
    assert len(set(zip(labels_by(method, X, m, 3), labels, strict=True))) == 3
