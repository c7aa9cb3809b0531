"""Cluster the points of a file, and write a label for each row."""

from __future__ import annotations

import argparse
import inspect
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from lssc.commands.points import WatchedRows, add_points_arguments, open_points, require_outputs, write_labels
from lssc.commands.progress import ProgressBar, showing_steps
from lssc.data.files.arrays import AUTO
from lssc.data.files.points import PointsFile
from lssc.errors import InputError
from lssc.parts.registry import suggest

METHODS = {
    "fsc": "FSC",
    "refined_fsc": "RefinedFSC",
    "esc": "ESC",
    "kfsc": "KFSC",
    "lsc": "LSC",
    "ensc": "EnSC",
    "adssc": "ADSSC",
    "ssc": "SSC",
    "ssc_omp": "SSCOMP",
    "ssc_admm": "SSCADMM",
    "s5c": "S5C",
    "tsc": "TSC",
}
# Options that not every method has, with their parameter.
OPTIONAL = {"landmarks": "n_landmarks", "lam": "lam"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_points_arguments(parser)
    parser.add_argument(
        "--clusters", type=_value, required=True, metavar="K", help="number of clusters; auto estimates it"
    )
    parser.add_argument("--method", choices=METHODS, default="fsc", help="default: fsc")
    parser.add_argument("--landmarks", type=_value, metavar="M", help="number of landmarks")
    parser.add_argument("--lam", type=_value, help="weight of the residual against the size of the code")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="any other parameter, such as unit_norm=false"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of all randomness (default: 0)")
    parser.add_argument("--report", type=Path, help="write a page about the clusters to this .html file")
    parser.add_argument("--image-shape", metavar="HxW", help="draw points as images, such as 28x28; none draws none")
    parser.add_argument("--model", type=Path, help="save the model for `lssc predict`: .skops, or .joblib")


def run(args: argparse.Namespace) -> None:
    require_outputs(args, report=(".html",), model=(".skops", ".joblib"))
    file, model = open_points(args), _model(args)
    if args.report:
        # Imported only if needed, and before the work: drawing needs packages of an extra.
        from lssc.report.fit_page import fit_page, image_shape

        shape = image_shape(args.image_shape, file)
    start = time.perf_counter()
    messages = _fit(model, file)
    seconds = time.perf_counter() - start
    write_labels(args.out, model.labels_)
    if args.report:
        args.report.write_text(fit_page(model, file, args.method, seconds, shape, messages), encoding="utf-8")
    if args.model:
        from lssc.commands.models import save_model

        save_model(model, args.model)
    print(f"{_summary(model, file)} in {seconds:.1f} s: {args.out}")


def _model(args: argparse.Namespace) -> Any:
    """The estimator that the arguments describe; InputError for parameters that it does not have."""
    import lssc

    estimator = getattr(lssc, METHODS[args.method])
    known = set(inspect.signature(estimator).parameters) - {"random_state", "n_jobs", "verbose"}
    chosen = {OPTIONAL[name]: value for name in OPTIONAL if (value := getattr(args, name)) is not None}
    for text in args.set:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--set {text}: write NAME=VALUE, such as unit_norm=false")
        chosen[name] = _value(value)
    for name in chosen:
        if name not in known:
            raise InputError(f"{args.method} has no parameter {name!r}; {suggest(name, known)}")
    clusters = None if args.clusters == AUTO else args.clusters
    return estimator(clusters, random_state=args.seed, n_jobs=args.jobs, **chosen)


def _value(text: str) -> Any:
    """A number, true or false; anything else is text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _fit(model: Any, file: PointsFile) -> list[str]:
    """Fit the model with a progress bar; the warnings, which are also printed."""
    bar = ProgressBar(len(model._parts(file.shape[0])))
    with warnings.catch_warnings(record=True) as caught, showing_steps(model, bar):
        warnings.simplefilter("always", UserWarning)
        try:
            model.fit(WatchedRows(file, bar))
        except ValueError as error:
            raise InputError(str(error)) from None
    messages = [str(warning.message) for warning in caught if issubclass(warning.category, UserWarning)]
    for message in messages:
        print(f"lssc fit: warning: {message}", file=sys.stderr)
    return messages


def _summary(model: Any, file: PointsFile) -> str:
    from lssc.metrics import scores

    sizes = np.bincount(model.labels_, minlength=model.n_clusters_)
    text = f"{len(model.labels_):,} points in {len(sizes)} clusters of {sizes.min():,} to {sizes.max():,}"
    if file.labels is None:
        return text
    return f"{text}, accuracy {scores(file.labels.numbers, model.labels_)['accuracy']:.3f}"
