"""`lssc compile`: compiles the kernels of some estimators, or of all parts, before their first use."""

from __future__ import annotations

import argparse
from typing import Any

import lssc
from lssc.errors import InputError
from lssc.parts.compiling import compile_parts, every_part
from lssc.parts.registry import suggest

ESTIMATORS = [name for name in lssc.__all__ if not name.startswith("_")]
# Points that the parts of an estimator are looked up for; any number gives the same parts.
MANY = 1000


def add_command(commands: Any) -> None:
    """Add the command to those of `lssc`."""
    parser = commands.add_parser("compile", help="compile the kernels of estimators now, not at their first use")
    parser.add_argument("estimators", nargs="*", help=f"of {', '.join(ESTIMATORS)} (default: FSC)")
    parser.add_argument("--all", action="store_true", help="every part, also those that no estimator uses by default")


def run(args: argparse.Namespace) -> None:
    if args.all:
        compile_parts(every_part())
        return
    compile_parts(part for name in args.estimators or ["FSC"] for part in parts_of(name))


def parts_of(estimator: str) -> list[tuple[str, str]]:
    """(kind, name) of each part that an estimator runs by default."""
    if estimator not in ESTIMATORS:
        raise InputError(f"unknown estimator {estimator!r}; {suggest(estimator, ESTIMATORS)}")
    parts = getattr(lssc, estimator)()._parts(MANY)
    return [(kind, name) for kind, (name, _) in parts.items()]
