"""dask-ml's spectral clustering of points in a Zarr array, on two threads; for the Python of another environment.

`pip install dask-ml==2025.1.0 dask==2025.1.0 zarr` there. On two Dask workers it did not end within 100 seconds for
4,000 points; Dask warned that its tasks change under the same key. The script says `ready` when all is imported, begins
when a line comes, and saves labels in the folder.
"""

from __future__ import annotations

import sys

import numpy as np


def main() -> None:
    import dask
    import dask.array as da
    from dask_ml.cluster import SpectralClustering

    folder, n_clusters = sys.argv[1], int(sys.argv[2])
    dask.config.set(scheduler="threads", num_workers=2)
    model = SpectralClustering(n_clusters=n_clusters, random_state=0)
    print("ready", flush=True)
    sys.stdin.readline()
    labels = model.fit(da.from_zarr(f"{folder}/x.zarr")).labels_
    np.save(f"{folder}/dask_ml.npy", np.asarray(labels))


if __name__ == "__main__":
    main()
