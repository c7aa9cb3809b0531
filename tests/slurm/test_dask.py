"""FSC on Dask workers that Slurm starts."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import lssc
from lssc.distributed import points
from tests.slurm.cluster import output_of

pytestmark = pytest.mark.slurm

MODELS = {
    "FSC": lssc.FSC(3, n_landmarks=40, random_state=0),
    "RefinedFSC": lssc.RefinedFSC(3, n_landmarks=40, max_points=300, random_state=0),
}


def test_fit_on_two_workers_gives_the_labels_of_the_fit_in_memory(cluster, tmp_path, monkeypatch):
    from dask import array as da
    from dask_jobqueue import SLURMCluster
    from distributed import Client

    monkeypatch.setattr(points, "ROWS_PER_BLOCK", 100)
    rng = np.random.default_rng(0)
    X = rng.permutation(np.concatenate([rng.normal(size=(200, 3)) @ rng.normal(size=(3, 12)) for _ in range(3)]))
    workers = SLURMCluster(
        cores=1,
        memory="800MB",
        walltime="00:10:00",
        python=sys.executable,
        local_directory=str(tmp_path),
        log_directory=str(tmp_path),
        scheduler_options={"host": "127.0.0.1", "dashboard_address": None},
    )
    with workers, Client(workers) as client:
        workers.scale(jobs=2)
        client.wait_for_workers(2, timeout=180)
        names = output_of("squeue", "--noheader", "--states=RUNNING", "--format=%j").split()
        assert names.count("dask-worker") == 2
        for model in MODELS.values():
            expected = model.fit(X).labels_
            labels = model.fit(da.from_array(X, chunks=(150, -1))).labels_
            np.testing.assert_array_equal(labels.compute(), expected)
        ran = client.run(lambda dask_worker: len(dask_worker.state.log))
        assert len(ran) == 2
        assert all(ran.values())
