import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from lssc.linalg.scaling import unit_rows
from lssc.parts.coders.lasso import code_lasso
from lssc.parts.embedders.explicit import embed_explicit
from lssc.parts.embedders.landmark_svd import embed_landmark_svd


@pytest.fixture
def codes(X):
    return code_lasso(X, np.arange(0, 60, 4), lam=10.0).matrix


def dense_laplacian(codes):
    """D^-1/2 W D^-1/2 with W = |C|'|C|, all n x n; a point without a code has a zero row."""
    C = np.abs(codes.toarray())
    W = C @ C.T
    degree = W.sum(axis=1)
    scale = np.divide(1, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    return scale[:, None] * W * scale


@pytest.mark.parametrize("solver", ["auto", "gram", "svd"])
@pytest.mark.parametrize("K", [1, 3, 7])
def test_spans_the_top_eigenvectors_of_the_normalised_affinity(codes, solver, K, rng):
    values, vectors = np.linalg.eigh(dense_laplacian(codes))
    found = embed_landmark_svd(codes, n_clusters=K, solver=solver, rng=rng)
    assert_allclose(found.values**2, values[::-1][:K], atol=1e-8)
    assert_allclose(found.vectors @ found.vectors.T, vectors[:, -K:] @ vectors[:, -K:].T, atol=1e-6)


@pytest.mark.parametrize("scale_rows", [True, False])
def test_agrees_with_the_explicit_embedding(codes, scale_rows, rng):
    codes = sparse.csr_matrix(codes.toarray() * (np.arange(60) != 7)[:, None])  # a point without a code
    implicit = embed_landmark_svd(codes, n_clusters=3, scale_rows=scale_rows, rng=rng)
    explicit = embed_explicit(codes, n_clusters=3, scale_rows=scale_rows)
    assert_allclose(implicit.vectors, explicit.vectors, atol=1e-10)
    assert_allclose(implicit.values, explicit.values, atol=1e-12)
    assert not explicit.vectors[7].any()


@pytest.mark.parametrize("solver", ["gram", "svd"])
def test_columns_are_orthonormal(codes, solver, rng):
    found = embed_landmark_svd(codes, n_clusters=3, solver=solver, rng=rng)
    assert_allclose(found.vectors.T @ found.vectors, np.eye(3), atol=1e-8)
    assert found.values[0] == pytest.approx(1)
    assert (np.diff(found.values) <= 0).all()


def test_solvers_agree(codes, rng):
    gram, svd = (embed_landmark_svd(codes, n_clusters=3, solver=s, rng=rng) for s in ("gram", "svd"))
    assert_allclose(gram.vectors, svd.vectors, atol=1e-7)


@pytest.mark.parametrize("block", [1, 7, 60])
def test_embedding_does_not_depend_on_blocks(codes, block, monkeypatch, rng):
    expected = embed_landmark_svd(codes, n_clusters=3, rng=rng)
    monkeypatch.setattr("lssc.blocks.SPARSE_ROWS_PER_BLOCK", block)
    found = embed_landmark_svd(codes, n_clusters=3, rng=rng)
    assert_allclose(found.vectors, expected.vectors, atol=1e-10)
    assert_allclose(found.values, expected.values, atol=1e-10)


def test_auto_uses_the_gram_matrix_up_to_its_limit(codes, monkeypatch, rng):
    def forbidden(*args):
        raise AssertionError("wrong solver")

    m = codes.shape[1]
    with monkeypatch.context() as patch:
        patch.setattr("lssc.parts.embedders.landmark_svd._top_by_svd", forbidden)
        embed_landmark_svd(codes, n_clusters=3, gram_up_to=m, rng=rng)
    monkeypatch.setattr("lssc.parts.embedders.landmark_svd._top_by_gram", forbidden)
    embed_landmark_svd(codes, n_clusters=3, gram_up_to=m - 1, rng=rng)


def test_scale_rows_only_scales_rows(codes, rng):
    plain = embed_landmark_svd(codes, n_clusters=3, rng=rng).vectors
    scaled = embed_landmark_svd(codes, n_clusters=3, scale_rows=True, rng=rng).vectors
    assert_allclose(np.linalg.norm(scaled, axis=1), 1)
    assert_allclose(scaled, unit_rows(plain))


def test_signs_of_coefficients_do_not_matter(codes, rng):
    flipped = codes.copy()
    flipped.data *= np.where(np.random.default_rng(1).random(flipped.nnz) < 0.5, -1, 1)
    expected = embed_landmark_svd(codes, n_clusters=3, rng=rng).vectors
    assert_array_equal(embed_landmark_svd(flipped, n_clusters=3, rng=rng).vectors, expected)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("solver", ["gram", "svd"])
def test_uncoded_points_stay_at_the_origin(codes, solver, rng):
    holes = codes.tolil()
    holes[[3, 30]] = 0
    holes = holes.tocsr()
    found = embed_landmark_svd(holes, n_clusters=3, solver=solver, scale_rows=True, rng=rng)
    assert not found.vectors[[3, 30]].any()
    assert found.info["n_uncoded"] == 2
    values, _ = np.linalg.eigh(dense_laplacian(holes))
    assert_allclose(found.values**2, values[::-1][:3], atol=1e-8)


@pytest.mark.parametrize("solver", ["gram", "svd"])
def test_coordinates_beyond_the_rank_are_zero(solver, rng):
    codes = sparse.csr_matrix(np.repeat(np.eye(4)[:2], 5, axis=0))
    found = embed_landmark_svd(codes, n_clusters=3, solver=solver, rng=rng)
    assert_allclose(found.values, [1, 1, 0], atol=1e-7)
    assert not found.vectors[:, 2].any()
    assert_allclose(found.vectors.T @ found.vectors, np.diag([1, 1, 0]), atol=1e-8)


@pytest.mark.parametrize("solver", ["gram", "svd"])
def test_ignores_singular_values_from_rounding(solver, rng):
    """Rank two up to rounding: the Gram matrix gives a third singular value of about 1e-9."""
    codes = sparse.csr_matrix(rng.uniform(1, 2, (40, 2)) @ rng.uniform(1, 2, (2, 8)))
    found = embed_landmark_svd(codes, n_clusters=4, solver=solver, rng=rng)
    assert not found.vectors[:, 2:].any()
    assert_allclose(found.vectors.T @ found.vectors, np.diag([1, 1, 0, 0]), atol=1e-6)


@pytest.mark.parametrize("K", [2, 3, 5])
def test_fewer_landmarks_than_clusters_are_padded_with_zeros(K, rng):
    codes = sparse.csr_matrix(np.repeat(np.eye(2), 4, axis=0))
    for solver in ("gram", "svd"):
        found = embed_landmark_svd(codes, n_clusters=K, solver=solver, rng=rng)
        assert found.vectors.shape == (8, K)
        assert np.linalg.matrix_rank(found.vectors) == 2


@pytest.mark.parametrize("solver", ["gram", "svd"])
def test_zero_codes_embed_at_the_origin(solver, rng):
    found = embed_landmark_svd(sparse.csr_matrix((20, 6)), n_clusters=3, solver=solver, rng=rng)
    assert not found.vectors.any()
    assert found.info["n_uncoded"] == 20


def test_embeds_unsorted_and_repeated_entries(codes):
    """The codes do not change, although the embedding shares their index arrays."""
    rows, columns = codes.nonzero()
    half = codes.data / 2
    order = np.lexsort((np.random.default_rng(0).random(2 * len(rows)), np.tile(rows, 2)))
    pointers = 2 * codes.indptr
    messy = sparse.csr_matrix((np.tile(half, 2)[order], np.tile(columns, 2)[order], pointers), shape=codes.shape)
    before = messy.indices.copy()
    expected = embed_landmark_svd(codes, n_clusters=3, rng=np.random.default_rng(0))
    found = embed_landmark_svd(messy, n_clusters=3, rng=np.random.default_rng(0))
    assert_allclose(found.values, expected.values, atol=1e-10)
    assert_allclose(found.vectors, expected.vectors, atol=1e-8)
    assert (messy.indices == before).all()
