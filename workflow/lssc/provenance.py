"""What made a result: software, machine and config."""

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


def provenance(config: dict[str, Any], sources: dict[str, Any]) -> dict[str, Any]:
    """`sources` says, for each image collection, where its files came from."""
    return {
        "library": __version__,
        "commit": _commit(),
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


def _commit() -> str | None:
    """The commit of the checkout this library runs from, marked if it has changes; None outside of one."""
    here = Path(__file__).parent
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        return subprocess.run(command, cwd=here, capture_output=True, text=True).stdout.strip() or None
    except FileNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
