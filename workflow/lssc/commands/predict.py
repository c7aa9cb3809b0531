"""Label the points of a file by a model that `lssc fit --model` saved."""

from __future__ import annotations

import argparse
from pathlib import Path

from lssc.commands.points import WatchedRows, add_points_arguments, open_points, require_outputs, write_labels
from lssc.commands.progress import ProgressBar
from lssc.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, help="a .skops file, or a .joblib file with --trust")
    add_points_arguments(parser)
    parser.add_argument("--trust", action="store_true", help="load a .joblib file, which runs code in it")


def run(args: argparse.Namespace) -> None:
    from lssc.commands.models import load_model
    from lssc.metrics import scores

    require_outputs(args)
    model, file = load_model(args.model, trust=args.trust), open_points(args)
    if not hasattr(model, "predict"):
        raise InputError(f"{args.model}: {type(model).__name__} labels no new points; fit with --method fsc")
    model.n_jobs = args.jobs
    bar = ProgressBar(1)
    bar.begin("labelling points")
    try:
        labels = model.predict(WatchedRows(file, bar))
    except ValueError as error:
        raise InputError(f"{file.path}: {error}") from None
    finally:
        bar.close()
    write_labels(args.out, labels)
    accuracy = f", accuracy {scores(file.labels.numbers, labels)['accuracy']:.3f}" if file.labels else ""
    print(f"{len(labels):,} points labelled{accuracy}: {args.out}")
