import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.linalg import block_diag

from lssc.linalg import spectral
from lssc.linalg.spectral import spectral_embedding


def normalised(W):
    degree = W.sum(axis=1)
    scale = np.divide(1, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    return scale[:, None] * W * scale


def random_graph(n, seed=0, density=0.3):
    W = np.random.default_rng(seed).random((n, n))
    W = W * (np.random.default_rng(seed + 1).random((n, n)) < density)
    return W + W.T + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)


def embed(W, K, seed=0):
    return spectral_embedding(sparse.csr_matrix(W), K, rng=np.random.default_rng(seed))


@pytest.mark.parametrize("dense", [256, 0], ids=["dense solver", "iterative solver"])
@pytest.mark.parametrize("K", [1, 2, 5])
def test_connected_graph_gives_top_eigenvectors(K, dense, monkeypatch):
    monkeypatch.setattr(spectral, "MAX_DENSE_VERTICES", dense)
    W = random_graph(70)
    values, vectors = np.linalg.eigh(normalised(W))
    found = embed(W, K)
    assert_allclose(found.values, values[::-1][:K], atol=1e-9)
    assert_allclose(found.vectors @ found.vectors.T, vectors[:, -K:] @ vectors[:, -K:].T, atol=1e-7)


def test_solvers_agree_on_signs(monkeypatch):
    W = random_graph(70)
    expected = embed(W, 4).vectors
    monkeypatch.setattr(spectral, "MAX_DENSE_VERTICES", 0)
    for seed in (0, 1):
        assert_allclose(embed(W, 4, seed).vectors, expected, atol=1e-7)


@pytest.mark.parametrize("dense", [256, 0])
@pytest.mark.parametrize("n_components", [2, 3, 5])
def test_components_give_the_eigenvalues_of_the_graph(n_components, dense, monkeypatch):
    """Fewer components than K, K, and more; each has eigenvalue 1."""
    monkeypatch.setattr(spectral, "MAX_DENSE_VERTICES", dense)
    W = block_diag(*(random_graph(12 + i, seed=i) for i in range(n_components)))
    found = embed(W, 3)
    assert_allclose(found.values, np.linalg.eigvalsh(normalised(W))[::-1][:3], atol=1e-9)
    assert_allclose(normalised(W) @ found.vectors, found.vectors * found.values, atol=1e-8)
    assert_allclose(found.vectors.T @ found.vectors, np.eye(3), atol=1e-8)
    assert found.info == {"n_pieces": n_components, "n_isolated": 0}


def test_largest_components_count_if_there_are_more_than_clusters():
    sizes = [3, 9, 4, 8, 5]
    found = embed(block_diag(*(random_graph(size) for size in sizes)), 2)
    piece = np.repeat(np.arange(5), sizes)
    assert set(piece[np.abs(found.vectors).max(axis=1) > 0]) == {1, 3}


def test_small_components_stay_at_the_origin():
    """Two weakly linked halves are separated; isolated pairs stay at the origin."""
    halves = block_diag(random_graph(60, 1), random_graph(60, 2))
    halves[0, 60] = halves[60, 0] = 1e-3
    W = block_diag(halves, *([[0, 1], [1, 0]] for _ in range(4)))
    vectors = embed(W, 2).vectors
    assert not vectors[120:].any()
    second = vectors[:120, 1]
    assert (np.sign(second[:60]) == np.sign(second[0])).all()
    assert (np.sign(second[60:120]) == -np.sign(second[0])).all()


def test_component_of_a_tenth_of_the_mean_cluster_counts():
    W = block_diag(random_graph(90, 1), random_graph(5, 2), random_graph(4, 3), 0)
    vectors = embed(W, 2).vectors
    assert vectors[90:95].any()
    assert not vectors[95:].any()


@pytest.mark.parametrize("seed", range(8))
def test_every_component_counts_before_a_second_vector_of_one(seed):
    """A link of weight 1e-15 makes the second eigenvalue of the first component 1 up to rounding."""
    sizes = [16, 9, 7]
    W = block_diag(random_graph(8, seed), random_graph(8, seed + 20), random_graph(9, seed), random_graph(7, seed))
    W[0, 8] = W[8, 0] = 1e-15
    found = embed(W, 3)
    piece = np.repeat(np.arange(3), sizes)
    assert set(piece[np.abs(found.vectors).max(axis=1) > 1e-3]) == {0, 1, 2}
    assert found.info["n_pieces"] == 3


def test_components_do_not_depend_on_the_order_of_points():
    W = block_diag(random_graph(10, 1), random_graph(14, 2), random_graph(8, 3))
    shuffle = np.random.default_rng(5).permutation(32)
    vectors = embed(W[np.ix_(shuffle, shuffle)], 3).vectors
    assert ((np.abs(vectors) > 1e-12).sum(axis=1) == 1).all()
    piece = np.repeat(np.arange(3), [10, 14, 8])[shuffle]
    assert len(set(zip(piece, np.abs(vectors).argmax(axis=1), strict=True))) == 3


def test_largest_component_counts_however_small_it_is():
    W = np.zeros((60, 60))
    W[0, 1] = W[1, 0] = 1
    assert embed(W, 2).vectors[:2].any(axis=1).all()


def test_isolated_vertices_stay_at_the_origin_and_are_counted():
    W = block_diag(0, random_graph(10, 1), 0, 0, random_graph(9, 2))
    found = embed(W, 2)
    isolated = W.sum(axis=1) == 0
    assert not found.vectors[isolated].any()
    assert found.vectors[~isolated].any(axis=1).all()
    assert found.info == {"n_pieces": 2, "n_isolated": 3}


def test_vertex_with_a_loop_is_a_component():
    found = embed(block_diag(1.0, random_graph(6)), 2)
    assert found.info == {"n_pieces": 2, "n_isolated": 0}
    assert_allclose(found.values, 1)


def test_graph_without_edges_embeds_at_the_origin():
    found = embed(np.zeros((6, 6)), 3)
    assert not found.vectors.any()
    assert not found.values.any()


def test_component_smaller_than_k_is_padded():
    W = np.array([[0.0, 1.0], [1.0, 0.0]])
    found = embed(W, 2)
    assert_allclose(found.values, [1, -1])
    assert embed(W, 4).vectors.shape == (2, 4)


@pytest.mark.parametrize("dense", [256, 0])
def test_ties_give_the_same_vectors_for_the_same_rng(dense, monkeypatch):
    """A complete graph has an eigenvalue of multiplicity n - 1."""
    monkeypatch.setattr(spectral, "MAX_DENSE_VERTICES", dense)
    W = np.ones((40, 40)) - np.eye(40)
    one, two = embed(W, 4), embed(W, 4)
    assert_array_equal(one.vectors, two.vectors)
    assert_allclose(one.vectors.T @ one.vectors, np.eye(4), atol=1e-8)


@pytest.mark.parametrize("K", [2, 3])
def test_star_gives_the_same_vectors_for_the_same_rng(K):
    """A star has three distinct eigenvalues, so the Krylov space is exhausted."""
    W = np.zeros((300, 300))
    W[0, 1:] = W[1:, 0] = 1
    assert_array_equal(embed(W, K).vectors, embed(W, K).vectors)
