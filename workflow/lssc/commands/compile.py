"""Compile the kernels of estimators now, instead of in the first fit."""

from __future__ import annotations

import argparse

import lssc
from lssc.errors import InputError
from lssc.parts.registry import suggest

ESTIMATORS = [name for name in lssc.__all__ if name[0].isupper()]
# Any number of points gives the same parts.
MANY_POINTS = 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("estimators", nargs="*", help=f"some of {', '.join(ESTIMATORS)} (default: FSC)")
    parser.add_argument("--all", action="store_true", help="every part, also those that no estimator uses by default")


def run(args: argparse.Namespace) -> None:
    from lssc.parts.compiling import compile_parts, every_part

    compile_parts(
        every_part() if args.all else [part for name in args.estimators or ["FSC"] for part in parts_of(name)]
    )


def parts_of(estimator: str) -> list[tuple[str, str]]:
    """(kind, name) of each part that an estimator runs by default."""
    if estimator not in ESTIMATORS:
        raise InputError(f"unknown estimator {estimator!r}; {suggest(estimator, ESTIMATORS)}")
    parts = getattr(lssc, estimator)()._parts(MANY_POINTS)
    return [(kind, name) for kind, (name, _) in parts.items()]
