"""Files from a Debian package."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from lssc.data.downloads import run, unpack
from lssc.parts.params import Like, Text
from lssc.parts.registry import component

Package = Annotated[Text, Like(r"[a-z0-9][a-z0-9.+-]+(?:=[A-Za-z0-9.+~:-]+)?", "a package's name, or name=version")]


@component("source", "debian")
def fetch_debian(into: Path, files: Sequence[str], *, package: Package) -> None:
    """Download a package, such as `dataset-fashion-mnist`, and unpack the files that match; nothing is installed."""
    run(["apt-get", "download", "--quiet", "--", package], cwd=into)
    for archive in into.glob("*.deb"):
        tar = into / "files.tar"
        run(["sh", "-c", 'dpkg-deb --fsys-tarfile "$1" > "$2"', "sh", str(archive), str(tar)], cwd=into)
        with tar.open("rb") as stream:
            unpack(stream, into, files)
