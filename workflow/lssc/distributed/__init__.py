"""The same fit on Dask arrays: on one machine, or on a cluster."""
