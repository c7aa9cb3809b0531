"""One file per coder; `lssc.registry` finds it by its file name."""
