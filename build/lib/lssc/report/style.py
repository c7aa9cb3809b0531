"""The look of figures: colours, markers, names of quantities, and how figures are saved."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from lssc.pipeline.store.files import read_text, sealing

NAMES = {
    "m": "number of landmarks $m$",
    "n": "number of points $n$",
    "accuracy": "clustering accuracy",
    "nmi": "normalised mutual information",
    "ari": "adjusted Rand index",
    "seconds": "runtime (seconds, one thread)",
    "cpu_seconds": "runtime (CPU seconds, one thread)",
    "lam": "$\\lambda$",
    "alpha": "$\\alpha$",
    "k": "$k$",
    "t": "$t$",
}
MARKERS = "osD^vPX*<>"
# Indices into seaborn's colour-blind palette, strongest first. Its yellow is too weak on white.
COLOURS = (0, 1, 2, 3, 4, 5, 9, 7, 6)
DPI = 200
# PNG allows 65,536 pixels a side; image readers refuse 89 million and more in all.
LONGEST_SIDE, MOST_PIXELS = 60_000, 64_000_000
# Without dates and versions, equal figures are equal files.
METADATA = {"pdf": {"CreationDate": None}, "png": {"Software": None}}
ZERO_WIDTH_SPACE = "\u200b"


def set_style() -> None:
    sns.set_theme(context="paper", style="whitegrid", palette="colorblind", font_scale=1.15)
    plt.rcParams.update({"pdf.fonttype": 42, "savefig.bbox": "tight", "grid.alpha": 0.5})


def colour(place: int) -> tuple[float, ...]:
    """The palette's colours in turn: as they are, then darker, then lighter."""
    base = sns.color_palette("colorblind")[COLOURS[place % len(COLOURS)]]
    scale, white = ((1.0, 0.0), (0.6, 0.0), (0.6, 0.4))[place // len(COLOURS) % 3]
    return tuple(scale * part + white for part in base)


def marker(place: int) -> str:
    return MARKERS[place % len(MARKERS)]


def as_text(text: str) -> str:
    """Text of config, escaped for matplotlib: $ would begin a formula, a leading _ would hide a legend entry."""
    return f"{ZERO_WIDTH_SPACE if text.startswith('_') else ''}{text}".replace("$", r"\$")


def label_with_trials(label: str, trials: int, most: int) -> str:
    """A method's label; with its number of trials if that differs from the number in the title."""
    return as_text(label if trials == most else f"{label} ({trials} trial{'s' * (trials > 1)})")


def read_scores(path: Path) -> pd.DataFrame:
    """A score table. Names stay text, even those that look like a number or, as "NA" does, like a missing value."""
    names = dict.fromkeys(("experiment", "dataset", "method", "label", "setting"), str)
    return pd.read_csv(io.StringIO(read_text(path)), converters=names)


def save(figure: Figure, *paths: Path) -> None:
    """Write a figure to each of the paths, as PDF or PNG by their suffix, and close it."""
    width, height = figure.get_size_inches()
    dpi = min(DPI, LONGEST_SIDE / max(width, height), (MOST_PIXELS / (width * height)) ** 0.5)
    for path in paths:
        kind = path.suffix[1:]
        metadata: dict[str, Any] = METADATA[kind]
        with sealing(path) as temporary:
            figure.savefig(temporary, format=kind, metadata=metadata, dpi=dpi)
    plt.close(figure)
