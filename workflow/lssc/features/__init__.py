"""One file per feature transform of images; `lssc.registry` finds it by its file name."""
