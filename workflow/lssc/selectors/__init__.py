"""One file per selector; `lssc.registry` finds it by its file name."""
