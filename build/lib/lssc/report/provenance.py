"""Provenance of results: software, machine and config."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from lssc import __version__

PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "scikit-learn-extra",
    "kmedoids",
    "spams-bin",
    "numba",
    "kymatio",
    "h5py",
    "snakemake",
)
# What a run executes, as git names it from the top of the checkout.
SOURCES = (":/workflow", ":/Snakefile")


def provenance(config: dict[str, Any], sources: dict[str, Any]) -> dict[str, Any]:
    """`sources` says, for each image collection, where its files came from."""
    return {
        "library": __version__,
        "commit": commit(),
        "python": platform.python_version(),
        "packages": {name: metadata.version(name) for name in PACKAGES},
        "machine": {
            "system": f"{platform.system()} {platform.machine()}",
            "processor": _processor(),
            "cores": os.cpu_count(),
        },
        "images": sources,
        "config": config,
    }


def commit(folder: Path = Path(__file__).parent) -> str | None:
    """The commit of the checkout that holds a folder, or None; `-dirty` marks changed files and untracked sources."""
    try:
        # A folder without tracked files may still lie inside some other checkout.
        if not _git(folder, "ls-files"):
            return None
        name = _git(folder, "describe", "--always", "--dirty", "--abbrev=12")
        untracked = _git(folder, "ls-files", "--others", "--exclude-standard", "--", *SOURCES)
        return f"{name}-dirty" if untracked and not name.endswith("-dirty") else name or None
    except FileNotFoundError:
        return None


def _git(folder: Path, *command: str) -> str:
    return subprocess.run(["git", *command], cwd=folder, capture_output=True, text=True).stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
