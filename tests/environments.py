"""Tests the library, installed from its wheel, on other versions: `make test-core`.

The oldest Python gets the oldest version of every dependency, the others the newest.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import tomllib

REPO = Path(__file__).parents[1]
FOLDER = REPO / ".core"
# Python 3.11 runs every test in the locked environment.
PYTHONS = ("3.10", "3.12", "3.13")
OLDEST = PYTHONS[0]
TOOLS = ["pytest", "pytest-xdist", "hypothesis"]
TESTS = [
    *("tests/unit/kernels", "tests/unit/linalg", "tests/unit/parts", "tests/unit/estimators"),
    *("tests/contract", "tests/unit/test_metrics.py", "tests/unit/test_types.py"),
]


def find_python(version: str) -> str | None:
    """A Python of this version that starts, on the PATH or from pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    on_path = shutil.which(f"python{version}")
    for python in [*([on_path] if on_path else []), *sorted(map(str, pyenv.glob(f"{version}.*/bin/python")))]:
        # A shim of pyenv is on the PATH even where its Python is switched off.
        if subprocess.run([python, "-c", "import venv, ensurepip"], capture_output=True).returncode == 0:
            return python
    return None


def requirements(version: str) -> list[str]:
    """The dependencies of the library: the lowest versions that pyproject.toml allows for the oldest Python."""
    lowest = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]["dependencies"]
    return [f"{entry.replace('>=', '==')}.*" if version == OLDEST else entry for entry in lowest] + TOOLS


def call(*command: object) -> None:
    # Neither the checkout nor another installation: only the wheel. One thread for BLAS, as in the pipeline.
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "NUMBA_CACHE_DIR")}
    environment |= {"PYTHONSAFEPATH": "1", "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([str(part) for part in command], cwd=REPO, env=environment, check=True)


def build_wheel() -> Path:
    shutil.rmtree(FOLDER / "dist", ignore_errors=True)
    call(sys.executable, "-m", "build", "--no-isolation", "--outdir", FOLDER / "dist", REPO)
    call(sys.executable, "-m", "twine", "check", "--strict", *(FOLDER / "dist").iterdir())
    [wheel] = (FOLDER / "dist").glob("*.whl")
    return wheel


def install(python: str, version: str, wheel: Path) -> Path:
    """An environment with the wheel; kept, so that the next call only replaces the wheel. Returns its Python."""
    listed = requirements(version)
    name = hashlib.sha256(" ".join([python, *listed]).encode()).hexdigest()[:8]
    own = FOLDER / f"{version}-{name}" / "bin" / "python"
    pip = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if not own.exists():
        call(python, "-m", "venv", own.parents[1])
    call(*pip, *listed)
    call(*pip, "--no-deps", "--force-reinstall", wheel)
    return own


def main() -> None:
    wheel = build_wheel()
    for version in PYTHONS:
        start, python = time.perf_counter(), find_python(version)
        if python is None:
            print(f"Python {version}: skipped, as no python{version} is on the PATH or in pyenv", flush=True)
            continue
        own = install(python, version, wheel)
        options = ["--core", "--quiet", "-n", 2, "--dist", "loadfile", "-p", "no:cacheprovider"]
        call(own, "-m", "pytest", *options, *TESTS)
        print(f"Python {version}: passed in {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"failed: {' '.join(error.cmd)}")
