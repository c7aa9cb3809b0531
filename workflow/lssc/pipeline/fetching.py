"""Tries the sources of files in order."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from lssc.errors import InputError
from lssc.parts.registry import find

Content = TypeVar("Content")


def fetch_files(
    recipe: Mapping[str, Any], kind: str, files: Sequence[str], scratch: Path, use: Callable[[Path], Content]
) -> tuple[str, Content]:
    """Where the files of `images` or a `table` came from, and what `use` made of the folder that holds them.

    A folder named in config comes first and alone. InputError with every reason if no source gives usable files.
    """
    if recipe["folder"]:
        return "a folder named in config", use(Path(recipe["folder"]))
    reasons = []
    for source in recipe["sources"]:
        label = " ".join([source["name"], *map(str, source["params"].values())])
        folder = Path(tempfile.mkdtemp(dir=scratch))
        try:
            find("source", source["name"])(folder, files, **source["params"])
            return label, use(folder)
        except InputError as error:
            reasons.append(f"{label}: {str(error).replace(f'{folder}: ', '')}")
    id = recipe[kind]
    raise InputError(
        f"no source gave the files of {kind} {id!r} ({'; '.join(reasons) or 'config names none'}). "
        f"Put {', '.join(files)} (plain or .gz) into a folder and name it in config as "
        f"{'images' if kind == 'images' else 'tables'}.{id}.folder"
    )
