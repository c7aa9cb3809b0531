"""Peers of the benchmarks: other programs for the lasso, min |c|_1 + lam/2 |x - L'c|^2, for OMP and for clustering."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lssc.parts.clusterers.kmeans import cluster_kmeans
from lssc.parts.coders.lasso import code_lasso
from lssc.parts.registry import find
from lssc.parts.seeding import rng_for
from measure import N_CLUSTERS, Clock

Solve = Callable[[], Any]
LAM = 10.0
# Iterations that let scikit-learn's coordinate descent reach its relative duality gap of 1e-8.
CD_ITERATIONS = 20_000


@dataclass(frozen=True)
class Peer:
    """`solve` returns one code a row, of the points with these row numbers."""

    solve: Solve
    points: np.ndarray


def lasso_peers(X: np.ndarray, landmarks: np.ndarray, lam: float, sample: np.ndarray) -> dict[str, Peer]:
    """Every program that solves the lasso; scikit-learn's, by far the slowest, on the sample of points only.

    A landmark may use itself here, because only our coders can exclude it. SPAMS and `sparse_encode` weight the l1 norm
    instead of the residual: their penalty is 1/lam. (`Lasso` needs 1 / (lam D); `sparse_encode` divides by D.)
    """
    import spams
    from sklearn.decomposition import sparse_encode

    atoms, everyone = X[landmarks], np.arange(len(X))
    columns, dictionary = np.asfortranarray(X.T), np.asfortranarray(atoms.T)

    def ours(**params: Any) -> Peer:
        return Peer(lambda: code_lasso(X, landmarks, lam=lam, exclude_self=False, **params).matrix, everyone)

    def encode(**params: Any) -> Peer:
        return Peer(lambda: sparse_encode(X[sample], atoms, alpha=1 / lam, **params), sample)

    def bare() -> Any:
        return spams.lasso(columns, D=dictionary, lambda1=1 / lam, mode=2, numThreads=1).T

    return {
        "lasso": ours(),
        "lasso, single precision": ours(precision="single"),
        "SPAMS": Peer(bare, everyone),
        "scikit-learn, lasso_lars": encode(algorithm="lasso_lars"),
        "scikit-learn, lasso_cd": encode(algorithm="lasso_cd", max_iter=CD_ITERATIONS),
    }


def lasso_quality(X: np.ndarray, atoms: np.ndarray, codes: Any, lam: float) -> tuple[np.ndarray, float]:
    """The objective of every point, and the largest violation of the optimality conditions relative to 1/lam.

    The violation is the distance that a coefficient would move if only it were optimised (atoms have unit length). It
    equals the violation of the conditions, except for coefficients of the size of rounding errors with a wrong sign.
    """
    codes, objectives, worst = sparse.csr_matrix(codes), [], 0.0
    for start in range(0, len(X), 1000):
        C, x = codes[start : start + 1000].toarray(), X[start : start + 1000]
        residual = x - C @ atoms
        objectives.append(np.abs(C).sum(axis=1) + lam / 2 * (residual**2).sum(axis=1))
        alone = C + residual @ atoms.T
        alone -= np.clip(alone, -1 / lam, 1 / lam)
        worst = max(worst, lam * float(np.abs(alone - C).max()))
    return np.concatenate(objectives), worst


def omp_one_by_one(X: np.ndarray, sample: np.ndarray, k: int) -> np.ndarray:
    """scikit-learn's OMP with all other points: it cannot exclude an atom, but never chooses a zero atom."""
    from sklearn.linear_model import orthogonal_mp

    dictionary = np.array(X.T, order="F")
    codes = np.zeros((len(sample), len(X)))
    for place, i in enumerate(sample):
        dictionary[:, i] = 0
        codes[place] = orthogonal_mp(dictionary, X[i], n_nonzero_coefs=k)
        dictionary[:, i] = X[i]
    return codes


def farthest_first_plainly(X: np.ndarray, m: int, lam: float, first: int) -> np.ndarray:
    """ESC's search by its definition: compute the costs of all points at every step.

    In single precision, costs that differ by rounding only are equal; the first of them is chosen.
    """
    chosen, largest = [first], lam / 2 * (X**2).sum(axis=1).max()
    while len(chosen) < m:
        landmarks = np.array(chosen)
        codes = code_lasso(X, landmarks, lam=lam, exclude_self=False).matrix
        residual = X - codes @ X[landmarks]
        costs = np.asarray(abs(codes).sum(axis=1)).ravel() + lam / 2 * (residual**2).sum(axis=1)
        costs[chosen] = -np.inf
        chosen.append(int((costs / largest).astype(np.float32).argmax()))
    return np.array(chosen)


def medoid_cost(X: np.ndarray, landmarks: np.ndarray) -> float:
    """The sum of all points' city-block distances to their nearest landmark."""
    from scipy.spatial.distance import cdist

    blocks = (X[start : start + 1000] for start in range(0, len(X), 1000))
    return float(sum(cdist(block, X[landmarks], "cityblock").min(axis=1).sum() for block in blocks))


# Whole methods: labels of X; the clock records the seconds of each stage.


def fsc_uniform(X: np.ndarray, m: int, seed: int, clock: Clock) -> np.ndarray:
    landmarks = clock("selection", find("selector", "uniform"), X, m, rng=rng_for(seed, "select")).indices
    codes = clock("coding", find("coder", "lasso"), X, landmarks, lam=LAM).matrix
    embed = find("embedder", "landmark_svd")
    vectors = clock("embedding", embed, codes, n_clusters=N_CLUSTERS, rng=rng_for(seed, "embed")).vectors
    return clock("K-means", cluster_kmeans, vectors, n_clusters=N_CLUSTERS, rng=rng_for(seed, "cluster")).labels


def fsc_of_others(X: np.ndarray, m: int, seed: int, clock: Clock) -> np.ndarray:
    """The same method built from SPAMS, scipy's truncated SVD and scikit-learn's K-means."""
    landmarks = clock("selection", find("selector", "uniform"), X, m, rng=rng_for(seed, "select")).indices
    codes = clock("coding", find("coder", "lasso_spams"), X, landmarks, lam=LAM).matrix
    vectors = clock("embedding", _embed_by_scipy, codes, seed)
    return clock("K-means", sklearn_kmeans, vectors, seed).labels_


def _embed_by_scipy(codes: sparse.csr_matrix, seed: int) -> np.ndarray:
    from scipy.sparse.linalg import svds

    A = abs(codes)
    degree = A @ np.asarray(A.sum(axis=0)).ravel()
    A = sparse.diags(1 / np.sqrt(np.where(degree > 0, degree, 1))) @ A
    return svds(A, k=N_CLUSTERS, rng=rng_for(seed, "embed"))[0]


def ssc_omp(X: np.ndarray, m: int, seed: int, clock: Clock) -> np.ndarray:
    codes = clock("coding", find("coder", "omp"), X, np.arange(len(X)), k=2).matrix
    embed = find("embedder", "affinity")
    vectors = clock("embedding", embed, codes, n_clusters=N_CLUSTERS, rng=rng_for(seed, "embed")).vectors
    return clock("K-means", cluster_kmeans, vectors, n_clusters=N_CLUSTERS, rng=rng_for(seed, "cluster")).labels


def sklearn_kmeans(X: np.ndarray, seed: int) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(N_CLUSTERS, n_init=10, max_iter=100, random_state=seed).fit(X)


def kmeans(X: np.ndarray, m: int, seed: int, clock: Clock) -> np.ndarray:
    return clock("clustering", sklearn_kmeans, X, seed).labels_


def minibatch_kmeans(X: np.ndarray, m: int, seed: int, clock: Clock) -> np.ndarray:
    part = find("method", "minibatch_kmeans")
    return clock("clustering", part, X, n_clusters=N_CLUSTERS, rng=rng_for(seed, "method", part.name)).labels


def spectral(X: np.ndarray, m: int, seed: int, clock: Clock) -> np.ndarray:
    from sklearn.cluster import SpectralClustering

    model = SpectralClustering(N_CLUSTERS, affinity="nearest_neighbors", random_state=seed)
    return clock("clustering", model.fit, X).labels_


METHODS = {
    "FSC-uniform": fsc_uniform,
    "FSC of SPAMS, scipy, scikit-learn": fsc_of_others,
    "SSC-OMP": ssc_omp,
    "spectral clustering (scikit-learn)": spectral,
    "K-means (scikit-learn)": kmeans,
    "mini-batch K-means (scikit-learn)": minibatch_kmeans,
}
