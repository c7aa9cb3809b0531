"""`lssc compile` leaves nothing to compile for the first fit."""

import os
import subprocess
import sys

import pytest

import lssc
from lssc.cli import main
from lssc.commands.compile import ESTIMATORS, parts_of

FIT = """
import numpy as np
from lssc import SSCOMP
SSCOMP(3, k=3, random_state=0).fit(np.random.default_rng(0).normal(size=(60, 8)))
"""


@pytest.mark.slow
def test_first_fit_compiles_nothing_after_the_command(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    call = {"env": environment, "capture_output": True, "text": True, "check": True}
    done = subprocess.run([sys.executable, "-m", "lssc.cli", "compile", "SSCOMP"], **call)
    assert done.stdout.startswith("compiled code is ready")
    assert done.stderr == ""
    compiled = sorted(tmp_path.rglob("*.nbi"))
    assert {path.name.partition(".")[0] for path in compiled} == {"omp", "kmeans"}
    assert "lssc: compiling" not in subprocess.run([sys.executable, "-c", FIT], **call).stderr
    assert sorted(tmp_path.rglob("*.nbi")) == compiled


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimator_names_its_parts(name):
    kinds = {kind for kind, _ in parts_of(name)}
    assert kinds == {"method"} or {"selector", "coder", "embedder", "clusterer"} <= kinds
    assert hasattr(lssc, name)


def test_unknown_estimator_is_reported_in_one_line():
    with pytest.raises(SystemExit) as caught:
        main(["compile", "FCS"])
    assert caught.value.code == "lssc compile: unknown estimator 'FCS'; did you mean 'FSC'?"
