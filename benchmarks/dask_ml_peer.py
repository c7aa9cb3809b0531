"""dask-ml's spectral clustering of points in a Zarr array, on two workers; for the Python of another environment.

`pip install dask-ml distributed zarr` there. Says `ready` when all is imported and started, begins when a line comes,
and saves labels in the folder.
"""

from __future__ import annotations

import sys

import numpy as np


def main() -> None:
    import dask.array as da
    from dask_ml.cluster import SpectralClustering
    from distributed import Client, LocalCluster

    folder, n_clusters = sys.argv[1], int(sys.argv[2])
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1")
    Client(cluster)
    model = SpectralClustering(n_clusters=n_clusters, random_state=0)
    print("ready", flush=True)
    sys.stdin.readline()
    labels = model.fit(da.from_zarr(f"{folder}/x.zarr")).labels_
    np.save(f"{folder}/dask_ml.npy", np.asarray(labels))


if __name__ == "__main__":
    main()
