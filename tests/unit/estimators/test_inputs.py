"""Estimators give the same labels for every kind of array, and read large ones in blocks of rows."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags

import lssc
from lssc.estimators import inputs
from lssc.estimators.inputs import PreparedRows, row_blocks
from lssc.kernels import lasso
from lssc.types import is_stored

ESTIMATORS = {
    "uniform": lssc.FSC(3, n_landmarks=20, random_state=0),
    "kmedoids": lssc.FSC(3, n_landmarks=20, landmarks="kmedoids", affine=True, random_state=0),
    "rows": lssc.FSC(3, landmarks=np.arange(40, 10, -2), unit_norm=False, random_state=0),
    "ESC": lssc.ESC(3, n_landmarks=20, t=4, random_state=0),
    "LSC": lssc.LSC(3, n_landmarks=20, random_state=0),
    "SSC": lssc.SSC(3, random_state=0),
    "SSCOMP": lssc.SSCOMP(3, k=3, random_state=0),
    "SSCADMM": lssc.SSCADMM(3, random_state=0),
    "S5C": lssc.S5C(3, n_landmarks=20, random_state=0),
    "TSC": lssc.TSC(3, q=4, random_state=0),
}
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
by_rows = pytest.mark.parametrize(
    "estimator", [ESTIMATORS[name] for name in ("uniform", "kmedoids", "rows", "SSC", "LSC")]
)


def as_hdf5(X, folder):
    return pytest.importorskip("h5py").File(folder / "x.h5", "w").create_dataset("X", data=X)


def as_zarr(X, folder):
    zarr = pytest.importorskip("zarr")
    array = zarr.open(str(folder / "x.zarr"), mode="w", shape=X.shape, chunks=(7, X.shape[1]), dtype=X.dtype)
    array[:] = X
    return array


def as_memory_map(X, folder):
    np.save(folder / "x.npy", X)
    return np.load(folder / "x.npy", mmap_mode="r")


def as_frame(X, folder):
    return pytest.importorskip("pandas").DataFrame(X)


def as_read_only(X, folder):
    X = X.copy()
    X.setflags(write=False)
    return X


KINDS = {
    "list": lambda X, folder: X.tolist(),
    "Fortran": lambda X, folder: np.asfortranarray(X),
    "strided": lambda X, folder: np.repeat(X, 2, axis=0)[::2],
    "read_only": as_read_only,
    "frame": as_frame,
    "memory_map": as_memory_map,
    "hdf5": as_hdf5,
    "zarr": as_zarr,
}
SPARSE = {"csr": sparse.csr_matrix, "csc": sparse.csc_array, "bsr": sparse.bsr_matrix}


@pytest.fixture
def small_blocks(monkeypatch):
    """Read 16 rows at a time, in `fit` and in `transform`."""
    monkeypatch.setattr(lasso, "POINTS_PER_READ", 16)
    monkeypatch.setattr(inputs, "ROWS_PER_BLOCK", 16)


@every_estimator
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_gives_the_same_labels_for_every_kind_of_array(estimator, kind, X, tmp_path, small_blocks):
    expected, same = clone(estimator).fit(X), kind(X, tmp_path)
    model = clone(estimator).fit(same)
    assert_array_equal(model.labels_, expected.labels_)
    assert_array_equal(model.embedding_, expected.embedding_)
    assert_array_equal(model.landmarks_, expected.landmarks_)
    if hasattr(model, "transform"):
        assert_array_equal(model.transform(same), expected.transform(X))


@every_estimator
@pytest.mark.parametrize("kind", ["float32", "float16", "int8", "bool"])
def test_converts_numbers_without_loss(estimator, kind, X, tmp_path, small_blocks):
    """Labels of float32 numbers are those of the same numbers in double precision, in memory and in a file."""
    rounded = np.round(20 * X).astype(kind)
    expected = clone(estimator).fit(rounded.astype(np.float64))
    for same in (rounded, as_hdf5(rounded, tmp_path)):
        assert_array_equal(clone(estimator).fit(same).embedding_, expected.embedding_)


@by_rows
@pytest.mark.parametrize("kind", SPARSE.values(), ids=SPARSE)
def test_takes_sparse_points_where_parts_work_by_rows(estimator, kind, X, small_blocks):
    X = np.where(np.abs(X) > 0.2, X, 0.0)
    expected, model = clone(estimator).fit(X), clone(estimator).fit(kind(X))
    assert get_tags(estimator).input_tags.sparse
    assert_array_equal(model.embedding_, expected.embedding_)
    if hasattr(model, "predict"):
        assert_array_equal(model.predict(kind(X)), expected.labels_)


@pytest.mark.parametrize("name", ["ESC", "SSCOMP", "SSCADMM", "fasterpam"])
def test_refuses_sparse_points_elsewhere(name, X):
    estimator = ESTIMATORS.get(name, lssc.FSC(3, n_landmarks=20, landmarks="fasterpam"))
    assert not get_tags(estimator).input_tags.sparse
    with pytest.raises(TypeError, match="Sparse data was passed"):
        clone(estimator).fit(sparse.csr_matrix(X))


class CountedRows:
    """An array in a file that records how many rows each access reads."""

    def __init__(self, X):
        self._X, self.shape, self.dtype, self.reads = X, X.shape, X.dtype, []

    def __len__(self):
        return len(self._X)

    def __getitem__(self, rows):
        self.reads.append(len(self._X[rows]))
        return self._X[rows]

    def __array__(self, *args, **kwargs):
        raise AssertionError("read as a whole")


@pytest.mark.parametrize("name", ["uniform", "rows"])
def test_reads_a_file_once_in_blocks(name, X, small_blocks):
    stored = CountedRows(np.tile(X, (3, 1)))
    model = clone(ESTIMATORS[name]).set_params(lam=10.0).fit(stored)
    m = len(model.landmarks_)
    assert sum(stored.reads) == len(stored) + 2 * m
    model.predict(stored)
    assert max(stored.reads) <= max(16, m)


def test_reads_wide_points_in_smaller_blocks(X, monkeypatch):
    monkeypatch.setattr(lasso, "NUMBERS_PER_READ", 5 * X.shape[1])
    monkeypatch.setattr(inputs, "NUMBERS_PER_BLOCK", 5 * X.shape[1])
    stored = CountedRows(X)
    model = lssc.FSC(3, n_landmarks=4, lam=50.0, random_state=0).fit(stored)
    model.predict(stored)
    assert max(stored.reads) == 5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("stored", [False, True])
def test_never_holds_a_copy_of_all_points(dtype, stored, tmp_path, monkeypatch):
    monkeypatch.setattr(lasso, "POINTS_PER_READ", 500)
    monkeypatch.setattr(inputs, "ROWS_PER_BLOCK", 500)
    X = np.random.default_rng(0).standard_normal((10_000, 200)).astype(dtype)
    model = lssc.FSC(3, n_landmarks=20, lam=50.0, random_state=0, n_init=1, keep_codes=False)
    model.fit(X[:100]).predict(X[:100])
    size, X = X.nbytes, as_hdf5(X, tmp_path) if stored else X
    tracemalloc.start()
    try:
        model.fit(X).predict(X)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # A copy in double precision has 16 MB; blocks, codes and coordinates have less than half of that.
    assert size in (8_000_000, 16_000_000)
    assert peak < 7_000_000


@pytest.mark.parametrize(
    ("value", "message"),
    [(np.nan, "holds nan"), (-np.inf, "holds -inf"), (1e200, r"holds 1e\+200")],
)
@pytest.mark.parametrize("step", ["fit", "predict"])
def test_names_the_row_of_a_bad_number_in_a_file(value, message, step, X, tmp_path, small_blocks):
    bad = X.copy()
    bad[37, 2] = bad[45, 0] = value
    model = lssc.FSC(3, landmarks=np.arange(10), lam=50.0, random_state=0).fit(X)
    with pytest.raises(ValueError, match=f"{message} at row 37, column 2; "):
        getattr(model, step)(as_hdf5(bad, tmp_path))


def test_names_the_row_of_a_bad_landmark(X):
    bad = np.where(np.arange(60)[:, None] == 12, np.nan, X)
    rows = PreparedRows(bad, affine=False, unit_norm=True)
    with pytest.raises(ValueError, match="nan at row 12, column 0"):
        rows[np.array([30, 12, 4])]


@pytest.mark.parametrize(
    ("shape", "dtype", "message"),
    [
        ((5, 2, 2), float, "Found array with dim 3, while FSC expected 2"),
        ((1, 4), float, r"1 sample\(s\) \(shape=\(1, 4\)\) while a minimum of 2 is required by FSC"),
        ((0, 4), float, r"0 sample\(s\)"),
        ((9, 0), float, r"0 feature\(s\) \(shape=\(9, 0\)\) while a minimum of 1 is required by FSC"),
        ((9, 4), complex, "Complex data not supported"),
        ((9, 4), "S3", "FSC takes numbers; X holds .S3"),
    ],
)
def test_refuses_files_by_shape_and_type(shape, dtype, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        lssc.FSC(2).fit(as_hdf5(np.zeros(shape, dtype), tmp_path))


def test_refuses_new_points_of_other_width(X, tmp_path):
    model = lssc.FSC(3, n_landmarks=20, random_state=0).fit(X)
    with pytest.raises(ValueError, match="X has 5 features, but FSC is expecting 12 features"):
        model.predict(as_hdf5(X[:, :5], tmp_path))


def test_tells_stored_arrays_from_others(X, tmp_path):
    pandas = pytest.importorskip("pandas")
    assert is_stored(as_hdf5(X, tmp_path))
    assert is_stored(CountedRows(X))
    for other in (X, X.tolist(), sparse.csr_matrix(X), pandas.DataFrame(X), pandas.Series(X[0]), 3.0, None, "text"):
        assert not is_stored(other)


@pytest.mark.parametrize(("n", "row"), [(0, 3), (1, 3), (100_000, 16), (50_000, 1000), (3, 10**9)])
def test_blocks_cover_all_rows_and_are_bounded(n, row):
    blocks = row_blocks(n, row)
    assert_array_equal(np.concatenate([np.arange(n)[block] for block in blocks] or [[]]), np.arange(n))
    sizes = [block.stop - block.start for block in blocks]
    assert all(1 <= size <= max(1, min(2**16, 2**23 // row)) for size in sizes)
