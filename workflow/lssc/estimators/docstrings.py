"""What the docstrings of all estimators share: parameters and attributes, in numpydoc's form."""

from __future__ import annotations

import inspect

PARAMETERS = """\
Parameters
----------
n_clusters : int or None, default=8
    Number of subspaces K. None estimates it by the largest eigengap, for which the points are embedded twice."""
COMMON = """\
max_clusters : int, default=20
    Largest number of subspaces that n_clusters=None considers.
unit_norm : bool, default=True
    Scale the points to unit norm first.
affine : bool, default=False
    Look for affine subspaces, by a further coordinate that is 1 for every point.
n_init : int, default={n_init}
    Starts of K-means; the best one counts.
max_iter : int, default={max_iter}
    Most iterations of each start of K-means.
keep_codes : bool, default=True
    Keep `codes_`, which is the largest result.
{spill}random_state : int, RandomState or None, default=None
    An int gives the same labels on every call: those of the pipeline's trial 0 with this `seed`.
n_jobs : int, default=None
    Threads that code points, -1 for all cores; the labels do not depend on it.
verbose : int, default=0
    1 prints the time of each step.

Attributes
----------
labels_ : array of shape (n,)
    Cluster of each point, from 0 to K - 1.
landmarks_ : array of shape (m, D)
    The landmarks, scaled as the points are.
landmark_indices_ : array of shape (m,)
    Their rows in X; rows near them if landmarks are centres of K-means.
codes_ : CSR matrix of shape (n, m)
    Coefficients of each point, one column for each landmark; only with `keep_codes`.
embedding_ : array of shape (n, {width})
    Spectral coordinates of each point.
singular_values_ : array of shape ({width},)
    Singular values or eigenvalues of the coordinates, largest first.
cluster_centers_ : array of shape (K, {width})
    Means of the clusters in the coordinates of `embedding_`.
n_clusters_ : int
    The number of clusters used.
n_landmarks_ : int
    The number of landmarks used.
{lam}eigengaps_ : array of shape (max_clusters,)
    Gaps between successive values, only with n_clusters=None; see :func:`lssc.plot_eigengaps`.
inertia_ : float
    Sum of squared distances of the coordinates to their centres.
n_iter_ : int
    Iterations of the best start of K-means.
n_features_in_ : int
    Number of columns D of X.
seconds_ : dict
    Seconds by step."""
SPILL = """\
spill : path, default=None
    A folder for codes, in single precision, and for coordinates and labels of more than 67 million numbers: memory
    holds one block at a time. Every fit adds a folder there. On a cluster, all workers must see it. `codes_` is not
    kept then.
"""
LAM = """\
lam_ : float
    The weight used.
"""
# Spaces before each line of the docstring of a class.
INDENT = "    "


def documented(estimator: type) -> type:
    """Fill the parameters and attributes that all estimators share into the docstring of one."""
    defaults = {name: value.default for name, value in inspect.signature(estimator).parameters.items()}
    # The co-clustering embedding has two vectors for each cluster.
    values = {"width": "2 K" if "top" in defaults else "K", "lam": LAM if "lam" in defaults else ""}
    values["spill"] = SPILL if "spill" in defaults else ""
    common = COMMON.format(n_init=defaults["n_init"], max_iter=defaults["max_iter"], **values)
    for name, text in (("{parameters}", PARAMETERS), ("{common}", common)):
        estimator.__doc__ = estimator.__doc__.replace(name, text.replace("\n", f"\n{INDENT}"))
    return estimator
