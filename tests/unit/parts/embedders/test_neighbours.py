import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from lssc.linalg.spectral import spectral_embedding
from lssc.parts.embedders import neighbours
from lssc.parts.embedders.neighbours import embed_neighbours, nearest_neighbours


@pytest.fixture
def codes(rng):
    """40 sparse codes of different norms, one of them zero."""
    C = np.where(rng.random((40, 8)) < 0.4, rng.standard_normal((40, 8)), 0)
    C[:, :3] += rng.uniform(0.1, 1, (40, 3))
    C *= rng.uniform(0.1, 10, (40, 1))
    C[5] = 0
    return sparse.csr_matrix(C)


def brute_force(C, t):
    similarity = C @ C.T
    np.fill_diagonal(similarity, -np.inf)
    W = np.zeros_like(similarity)
    for i, row in enumerate(similarity):
        for j in np.argsort(-row)[:t]:
            W[i, j] = row[j] > 0
    return W


@pytest.mark.parametrize("t", [1, 3, 39])
@pytest.mark.parametrize("chunk", [1, 7, 512])
@pytest.mark.parametrize("dense", [0, 1])
def test_neighbours_agree_with_brute_force(codes, t, chunk, dense, monkeypatch):
    monkeypatch.setattr(neighbours, "POINTS_PER_CHUNK", chunk)
    monkeypatch.setattr(neighbours, "MAX_SPARSE_SHARE", dense)
    assert_array_equal(nearest_neighbours(codes, t).toarray(), brute_force(codes.toarray(), t))


def graph_of(codes, **options):
    """The graph that is embedded."""
    graphs = []

    def keep(W, n_clusters, *, rng):
        graphs.append(W.toarray())
        return spectral_embedding(W, n_clusters, rng=rng)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "spectral_embedding", keep)
        embed_neighbours(codes, n_clusters=3, rng=np.random.default_rng(0), **options)
    return graphs[0]


def test_graph_is_symmetrised(codes):
    C = codes.toarray()
    length = np.linalg.norm(C, axis=1, keepdims=True)
    W = brute_force(C / np.where(length == 0, 1, length), 3)
    assert_array_equal(graph_of(codes, t=3), W + W.T)


def test_raw_codes_give_another_graph(codes):
    W = brute_force(codes.toarray(), 3)
    raw = graph_of(codes, t=3, unit_codes=False)
    assert_array_equal(raw, W + W.T)
    assert (raw != graph_of(codes, t=3)).any()


def test_unit_codes_do_not_depend_on_their_length(codes, rng):
    longer = sparse.diags(np.random.default_rng(2).uniform(1, 9, 40)) @ codes
    expected = embed_neighbours(codes, n_clusters=3, t=4, rng=rng)
    assert_allclose(embed_neighbours(sparse.csr_matrix(longer), n_clusters=3, t=4, rng=rng).vectors, expected.vectors)


def test_scale_rows_gives_unit_norm(codes, rng):
    vectors = embed_neighbours(codes, n_clusters=3, t=4, rng=rng).vectors
    assert_allclose(np.linalg.norm(vectors, axis=1), np.where(np.arange(40) == 5, 0, 1))
    plain = embed_neighbours(codes, n_clusters=3, t=4, scale_rows=False, rng=rng).vectors
    assert_allclose(plain.T @ plain, np.eye(3), atol=1e-8)


def test_point_without_a_code_has_no_neighbours(codes):
    W = nearest_neighbours(codes, 3).toarray()
    assert not W[5].any()
    assert not W[:, 5].any()


def test_opposite_codes_are_not_neighbours():
    W = nearest_neighbours(sparse.csr_matrix([[1.0], [-1.0], [2.0]]), 2).toarray()
    assert_array_equal(W, [[0, 0, 1], [0, 0, 0], [1, 0, 0]])


def test_duplicates_get_t_neighbours_other_than_themselves():
    W = nearest_neighbours(sparse.csr_matrix(np.ones((9, 2))), 4).toarray()
    assert_array_equal(W.sum(axis=1), 4)
    assert_array_equal(np.diag(W), 0)
