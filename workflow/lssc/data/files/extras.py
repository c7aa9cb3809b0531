"""Packages that only some file formats need, imported on use."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

from lssc.errors import InputError


def require_package(name: str, path: Path) -> ModuleType:
    """The package that reads this file; InputError says how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        # A package that is there may still refuse the versions of others.
        reason = "" if isinstance(error, ModuleNotFoundError) else f" ({error})"
        need = f"{path.suffix} files need the package {name.partition('.')[0]!r}{reason}"
        raise InputError(f"{path}: {need}; install it with: pip install 'lssc[files]'") from None
