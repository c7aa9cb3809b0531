"""One file per embedder; `lssc.registry` finds it by its file name."""
