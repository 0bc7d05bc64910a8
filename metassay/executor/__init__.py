"""Where pieces of a stage are worked on: in this process, or by workers of a Dask cluster."""
