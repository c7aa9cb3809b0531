"""Files that an installed Python package brings."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from lssc.data.downloads import place_of
from lssc.errors import InputError
from lssc.parts.registry import component


@component("source", "installed")
def copy_installed(into: Path, files: Sequence[str], *, module: str) -> None:
    """Copy the files that match from the folder of an installed package, such as `sklearn`; it is not imported."""
    spec = find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise InputError(f"the package {module!r} is not installed")
    for root in map(Path, spec.submodule_search_locations):
        for path in sorted(root.rglob("*")):
            if path.is_file() and (place := place_of(path.relative_to(root).as_posix(), files)):
                (into / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, into / place)
