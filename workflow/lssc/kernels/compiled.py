"""Numba decorators for the kernels, and the folder that keeps their machine code.

Numba reuses a compiled function while the file that defines it is unchanged, even if a helper that it calls in another
file has changed. Here the folder is named after a hash of all kernel sources, so any change to them compiles anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding
from numba.core import event
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
            dispatcher = _compile(cache=cache_folder() is not None, **options)(function)
        finally:
            numba.config.CACHE_LOCATOR_CLASSES = before
        notice.kernels.append(dispatcher)
        return dispatcher

    return decorate


def helper(**options: Any) -> Decorator:
    """Compile a function that only kernels call; its machine code is part of theirs."""
    # Converting its arguments from Python's would take longer to compile than most helpers.
    return _compile(no_cpython_wrapper=True, **options)


def disjoint(function: Any) -> Any:
    """Let the compiler assume that no two arrays among a helper's arguments overlap, so that its loops need not check.

    Numba has no option for it, but sets the flag for its own functions. Without the hook all is as before, but slower.
    """

    def set_flag(flags: Any) -> Any:
        flags.noalias = True
        return flags

    if hasattr(getattr(function, "_compiler", None), "_customize_flags"):
        function._compiler._customize_flags = set_flag
    return function


def _compile(**options: Any) -> Decorator:
    return numba.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, **options)


class CompilationNotice(event.Listener):
    """Says once in a process that a kernel is being compiled; kernels from the cache are silent."""

    def __init__(self) -> None:
        self.is_wanted = True
        self.kernels: list[Any] = []

    def on_start(self, event: event.Event) -> None:
        if self.is_wanted and event.data["dispatcher"] in self.kernels and sys.stderr:
            self.is_wanted = False
            often = "once" if cache_folder() else "in every process: no cache folder is writable, set NUMBA_CACHE_DIR"
            print(f"lssc: compiling for this machine (up to half a minute, {often})", file=sys.stderr, flush=True)

    def on_end(self, event: event.Event) -> None:
        pass


notice = CompilationNotice()
_listening = event.register("numba:compile", notice)


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
    # The same holds for versions of Numba.
    features = binding.get_host_cpu_features().flatten()
    processor = _digest((binding.get_host_cpu_name() + features + numba.__version__).encode())
    return next(filter(_is_usable, (parent / f"lssc-{digest}" / processor for parent in _parents())), None)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _parents() -> Iterator[Path]:
    if numba.config.CACHE_DIR:
        yield Path(numba.config.CACHE_DIR)
    yield Path(__file__).parent / "__pycache__"
    user = _user_folder()
    # Without a home folder the path would be relative.
    if user.is_absolute():
        yield user


def _user_folder() -> Path:
    """The folder for caches of this user on Windows, macOS and elsewhere."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or os.path.expanduser("~/AppData/Local")) / "lssc" / "Cache"
    if sys.platform == "darwin":
        return Path(os.path.expanduser("~/Library/Caches")) / "lssc"
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "lssc"


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
