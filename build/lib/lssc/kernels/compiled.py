"""Numba decorators for the kernels, and the folder that keeps their machine code.

Numba reuses a compiled function while the file that defines it is unchanged, even if a helper that it calls in another
file has changed. Here the folder is named after a hash of all kernel sources, so any change to them compiles anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding
from numba.core.caching import InTreeCacheLocator

Decorator = Callable[[Callable[..., Any]], Any]

# Rules of floating-point arithmetic that the compiler may break: reorder, fuse, ignore signed zeros, use reciprocals.
FAST = {"reassoc", "contract", "nsz", "arcp"}
# The same where no infinity and no NaN occurs.
FAST_FINITE = FAST | {"nnan", "ninf"}

# Folders kept for other versions of the sources.
MAX_OLD_FOLDERS = 3


def kernel(**options: Any) -> Decorator:
    """Compile a function that Python calls; its machine code is kept on disk."""

    def decorate(function: Callable[..., Any]) -> Any:
        before = numba.config.CACHE_LOCATOR_CLASSES
        numba.config.CACHE_LOCATOR_CLASSES = f"{__name__}.{KernelCacheLocator.__name__}"
        try:
            return _compile(cache=cache_folder() is not None, **options)(function)
        finally:
            numba.config.CACHE_LOCATOR_CLASSES = before

    return decorate


def helper(**options: Any) -> Decorator:
    """Compile a function that only kernels call; its machine code is part of theirs."""
    return _compile(**options)


def _compile(**options: Any) -> Decorator:
    return numba.njit(nogil=True, error_model="numpy", **options)


class KernelCacheLocator(InTreeCacheLocator):
    """Makes Numba keep machine code in `cache_folder()`."""

    def get_cache_path(self) -> str:
        return str(cache_folder())

    def get_source_stamp(self) -> str:
        return "the folder is named after the sources"


@cache
def cache_folder() -> Path | None:
    """The folder for machine code of the present sources and processor; None if no place for it is writable."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    digest = _digest(b"".join(source.read_bytes() for source in sources))
    # Numba would keep code for several processors in one folder, but two of them that save at once mix up their files.
    processor = _digest((binding.get_host_cpu_name() + binding.get_host_cpu_features().flatten()).encode())
    return next(filter(_is_usable, (parent / f"lssc-{digest}" / processor for parent in _parents())), None)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _parents() -> Iterator[Path]:
    if numba.config.CACHE_DIR:
        yield Path(numba.config.CACHE_DIR)
    yield Path(__file__).parent / "__pycache__"
    yield Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "lssc"


def _is_usable(folder: Path) -> bool:
    """Make the folder. Returns whether files can be written there."""
    is_new = not folder.parent.is_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    if is_new:
        _remove_old(folder.parent)
    return os.access(folder, os.W_OK)


def _remove_old(new: Path) -> None:
    """Remove the oldest folders of other sources."""
    # Another process may remove the same ones.
    with contextlib.suppress(OSError):
        others = [other for other in new.parent.glob("lssc-*") if other != new]
        for old in sorted(others, key=lambda other: other.stat().st_mtime)[:-MAX_OLD_FOLDERS]:
            shutil.rmtree(old, ignore_errors=True)
