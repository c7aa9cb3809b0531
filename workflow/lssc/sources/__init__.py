"""One file per place that image collections come from; `lssc.registry` finds it by its file name."""
