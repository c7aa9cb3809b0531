"""One file per clusterer; `lssc.registry` finds it by its file name."""
