"""One file per dataset; `lssc.registry` finds it by its file name."""
