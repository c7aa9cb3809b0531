"""Fitted models as files: by skops, which loads data only, or by joblib, which runs what is in the file."""

from __future__ import annotations

import copy
import sys
from pathlib import Path

from lssc.errors import InputError
from lssc.estimators.base import SubspaceClustering

SKOPS, JOBLIB = ".skops", ".joblib"
# The module whose classes a model may consist of, beside those that skops trusts.
OWN = "lssc."


def save_model(model: SubspaceClustering, path: Path) -> None:
    """Write a model without its codes, which `predict` does not need."""
    slim = copy.copy(model)
    slim.__dict__.pop("codes_", None)
    if path.suffix == JOBLIB:
        import joblib

        joblib.dump(slim, path)
        print(f"{path}: loading a joblib file runs code in it; share it only with those who trust you", file=sys.stderr)
        return
    from skops import io

    io.dump(slim, path)


def load_model(path: Path, *, trust: bool) -> SubspaceClustering:
    """The model in a file; InputError if it could run code and is not trusted."""
    if path.suffix not in (SKOPS, JOBLIB):
        raise InputError(f"{path}: unknown format; a model is a {SKOPS} or {JOBLIB} file that `lssc fit --model` wrote")
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    if path.suffix == JOBLIB and not trust:
        raise InputError(f"{path}: loading a joblib file runs code in it; add --trust if you know where it comes from")
    try:
        model = _read_joblib(path) if path.suffix == JOBLIB else _read_skops(path)
    except (InputError, ModuleNotFoundError):
        raise
    except Exception as error:  # a damaged file fails in many ways
        reason = (str(error).splitlines() or [type(error).__name__])[0][:100]
        raise InputError(f"{path}: no model, or cut short or damaged ({reason})") from None
    if not isinstance(model, SubspaceClustering):
        raise InputError(f"{path}: holds a {type(model).__name__}, which is no model of lssc")
    return model


def _read_joblib(path: Path) -> object:
    import joblib

    return joblib.load(path)


def _read_skops(path: Path) -> object:
    from skops import io

    unknown = io.get_untrusted_types(file=path)
    foreign = [name for name in unknown if not name.startswith(OWN)]
    if foreign:
        raise InputError(f"{path}: holds {foreign[0]}, which is no part of a model of lssc; refused")
    return io.load(path, trusted=unknown)
