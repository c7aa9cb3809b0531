"""Plots of fitted estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted


def plot_eigengaps(model: Any, ax: Any = None) -> Any:
    """Draw the eigengaps of an estimator that was fitted with n_clusters=None.

    The bar at k is the gap after the k-th largest value. The highlighted bar is at the number of clusters used; the
    estimate is doubtful if other bars are about as high.

    Parameters
    ----------
    model : estimator
        Any fitted estimator of lssc.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes
        The axes with the bars.
    """
    check_is_fitted(model)
    if not hasattr(model, "eigengaps_"):
        raise ValueError(f"{type(model).__name__} has no eigengaps: fit it with n_clusters=None")
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plot_eigengaps needs matplotlib; install it by: pip install matplotlib") from None
    axes = plt.subplots()[1] if ax is None else ax
    k = np.arange(1, len(model.eigengaps_) + 1)
    axes.bar(k, model.eigengaps_, color=np.where(k == model.n_clusters_, "C1", "C0"))
    axes.set(xlabel="number of clusters k", ylabel="gap after the k-th value")
    return axes
