"""Files of points in every format, and what reading a bad one says."""

from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.io

from lssc.data.files.points import PointsFile
from lssc.errors import InputError

N, D = 30, 4
POINTS = np.random.default_rng(0).standard_normal((N, D)).round(3) * np.array([1, 1e-3, 1e5, 1])
CLASSES = np.repeat([3, 7, 12], N // 3)


@pytest.fixture(scope="session")
def points():
    return POINTS


@pytest.fixture(scope="session")
def classes():
    return CLASSES


@pytest.fixture(scope="session")
def write():
    return write_points


@pytest.fixture(scope="session")
def problem():
    return problem_of


def write_points(folder: Path, kind: str, X=POINTS, labels=CLASSES) -> Path:
    """A file of this format with the points as X and the labels as y."""
    path = folder / f"points.{'mat' if kind == 'mat73' else kind}"
    if kind == "npy":
        np.save(path, X)
    elif kind == "npz":
        np.savez_compressed(path, X=X, y=labels)
    elif kind == "csv":
        rows = [",".join([*map(repr, row.tolist()), str(label)]) for row, label in zip(X, labels, strict=True)]
        path.write_text("\n".join([",".join([*(f"x{i}" for i in range(X.shape[1])), "y"]), *rows]) + "\n")
    elif kind == "parquet":
        pyarrow = pytest.importorskip("pyarrow", exc_type=ImportError)
        from pyarrow import parquet

        columns = {f"x{i}": X[:, i] for i in range(X.shape[1])} | {"y": labels}
        parquet.write_table(pyarrow.table(columns), path, row_group_size=7)
    elif kind == "mat":
        scipy.io.savemat(path, {"X": X, "y": labels[:, None], "note": "text", "cell": {"a": 1}}, do_compression=True)
    else:
        transposed = kind == "mat73"
        with h5py.File(path, "w", userblock_size=512 if transposed else 0) as file:
            file["X"], file["y"] = (X.T, labels[None]) if transposed else (X, labels)
    return path


def read_all(file: PointsFile) -> None:
    """Read everything."""
    list(file.blocks())
    _ = file.labels


def problem_of(path: Path, **where) -> str:
    """The one line that a bad file gives."""
    with pytest.raises(InputError) as caught:
        read_all(PointsFile(path, **where))
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(f"{path}: ")
