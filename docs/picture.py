"""Draws docs/figures/subspaces.png, the picture at the top of the README: `python docs/picture.py`."""

from pathlib import Path

import numpy as np

from lssc.parts.registry import find

from lssc.report.curves import set_style  # isort: skip  (chooses matplotlib's backend)
import matplotlib.pyplot as plt

TARGET = Path(__file__).parent / "figures" / "subspaces.png"
COLOURS = ("#0173b2", "#de8f05", "#029e73")
# Orthonormal bases of two planes and a line through the origin of R^3, one basis vector a row.
BASES = (
    np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    np.array([[0.0, 0.0, 1.0], [0.6, 0.8, 0.0]]),
    np.array([[-0.62, 0.46, 0.635]]),
)
COUNTS = (170, 170, 60)
N_LANDMARKS = 36
# Standard deviation of each coordinate about its subspace.
NOISE = 0.008
DOTS = {"s": 11, "depthshade": False, "linewidths": 0}


def draw_points(rng: np.random.Generator) -> np.ndarray:
    """Points near the three subspaces: uniform directions, lengths from 0.3 to 1."""
    parts = []
    for basis, count in zip(BASES, COUNTS, strict=True):
        lengths = rng.uniform(0.3, 1.0, (count, 1))
        parts.append(lengths * unit_rows(rng.normal(size=(count, len(basis)))) @ basis)
    X = np.concatenate(parts)
    return X + NOISE * rng.normal(size=X.shape)


def unit_rows(X: np.ndarray) -> np.ndarray:
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def main() -> None:
    rng = np.random.default_rng(4)
    X = draw_points(rng)
    set_style()
    figure, panels = plt.subplots(1, 3, figsize=(10, 3.5), subplot_kw={"projection": "3d", "computed_zorder": False})
    titles = ("Points near three subspaces", "One point, coded by few landmarks", "The clusters to recover")
    for axes, title in zip(panels, titles, strict=True):
        axes.set_title(title, fontsize=12, y=1.0)
        axes.view_init(elev=20, azim=-78)
        axes.set_axis_off()
        axes.set(xlim=(-0.75, 0.75), ylim=(-0.75, 0.75), zlim=(-0.75, 0.75))
        axes.set_box_aspect((1, 1, 1), zoom=1.15)
    panels[0].scatter(*X.T, color="0.4", **DOTS)
    draw_code(panels[1], X, rng)
    panels[2].scatter(*X.T, color=np.repeat(COLOURS, COUNTS), **DOTS)
    for basis, colour in zip(BASES, COLOURS, strict=True):
        draw_subspace(panels[2], basis, colour)
    figure.subplots_adjust(left=0, right=1, bottom=0.04, top=0.9, wspace=0)
    figure.savefig(TARGET, dpi=110)


def draw_code(axes: plt.Axes, X: np.ndarray, rng: np.random.Generator) -> None:
    """A point, with lines to the landmarks that the code uses."""
    landmarks = find("selector", "uniform")(X, N_LANDMARKS, rng=rng).indices
    codes = find("coder", "lasso")(unit_rows(X), landmarks, lam=50.0).matrix
    used = [landmarks[codes[[i]].indices] for i in range(len(X))]
    # Two landmarks with positive weights, on either side of the point, are the easiest to see.
    shown = [len(used[i]) == 2 and codes[[i]].data.min() > 0 for i in range(len(X))]
    reach = [np.ptp(X[used[i]], axis=0).max() if shown[i] else 0.0 for i in range(len(X))]
    point = int(np.argmax(reach))
    axes.scatter(*X.T, color="0.8", **DOTS)
    axes.scatter(*X[landmarks].T, facecolor="white", edgecolor="0.3", s=26, depthshade=False, label="landmarks")
    for end in used[point]:
        axes.plot(*np.stack([X[point], X[end]]).T, color=COLOURS[0], linewidth=1.8)
    axes.scatter(*X[used[point]].T, color=COLOURS[0], s=44, depthshade=False, label="used by the code")
    axes.scatter(*X[point], color="black", marker="*", s=130, depthshade=False, label="the point")
    axes.legend(loc="lower center", ncol=3, frameon=False, fontsize=9, handletextpad=0, bbox_to_anchor=(0.5, -0.06))


def draw_subspace(axes: plt.Axes, basis: np.ndarray, colour: str) -> None:
    """The unit disc or segment of a subspace, faint."""
    if len(basis) == 1:
        axes.plot(*np.stack([-basis[0], basis[0]]).T, color=colour, linewidth=1)
        return
    radius, angle = np.meshgrid([0.0, 1.05], np.linspace(0, 2 * np.pi, 60))
    disc = (radius * np.cos(angle))[..., None] * basis[0] + (radius * np.sin(angle))[..., None] * basis[1]
    axes.plot_surface(*np.moveaxis(disc, -1, 0), color=colour, alpha=0.1, linewidth=0, shade=False)


if __name__ == "__main__":
    main()
