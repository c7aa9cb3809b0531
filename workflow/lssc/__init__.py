"""Large-scale sparse subspace clustering: estimators, their parts, and the pipeline that compares them.

Points are rows (X is n x D, codes are n x m); in the paper they are columns.
"""

from typing import Any

__version__ = "0.1.0"

# Public names, imported on use: a job that needs one kernel imports one kernel.
_PUBLIC = {
    "FSC": "lssc.estimators.fsc",
    "RefinedFSC": "lssc.estimators.refined",
    "ESC": "lssc.estimators.esc",
    "KFSC": "lssc.estimators.kfsc",
    "LSC": "lssc.estimators.lsc",
    "EnSC": "lssc.estimators.ensc",
    "ADSSC": "lssc.estimators.adssc",
    "SSC": "lssc.estimators.ssc",
    "SSCADMM": "lssc.estimators.ssc",
    "SSCOMP": "lssc.estimators.ssc",
    "S5C": "lssc.estimators.s5c",
    "TSC": "lssc.estimators.tsc",
    "plot_eigengaps": "lssc.estimators.plots",
}
__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
