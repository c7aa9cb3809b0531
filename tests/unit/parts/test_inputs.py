"""What reaches a part after its arguments are checked, and how often stored rows are read."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from lssc.errors import InputError
from lssc.parts import registry
from lssc.parts.coders.lasso import code_lasso
from lssc.parts.registry import component
from lssc.types import StoredRows

X = np.random.default_rng(0).standard_normal((30, 4))


@pytest.fixture
def seen(monkeypatch):
    """Registers a part of this kind that returns its first argument; a function to call it."""
    monkeypatch.setattr(registry, "_registered", {})

    def call(kind, array, *more, by_rows=False):
        parts = {
            "selector": lambda X, m: X,
            "coder": lambda X, landmarks: X,
            "embedder": lambda codes: codes,
            "clusterer": lambda vectors: vectors,
        }
        return component(kind, "example", by_rows=by_rows)(parts[kind])(array, *more)

    return call


@pytest.mark.parametrize("by_rows", [True, False])
def test_plain_arrays_are_passed_on_as_they_are(seen, by_rows):
    locked = X.copy()
    locked.setflags(write=False)
    for array in (X, locked):
        assert seen("selector", array, 3, by_rows=by_rows) is array
        assert seen("coder", array, [0, 1], by_rows=by_rows) is array
        assert seen("clusterer", array, by_rows=by_rows) is array


def test_codes_are_not_copied(seen):
    codes = sparse.csr_matrix(X)
    assert seen("embedder", codes) is codes
    shared = seen("embedder", sparse.csr_array(codes))
    assert np.shares_memory(shared.data, codes.data)


def test_memory_maps_in_memory_order_are_not_copied(seen, tmp_path):
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert np.shares_memory(seen("clusterer", mapped), mapped)
    # Read in blocks, and checked then: not read twice.
    assert not isinstance(seen("selector", mapped, 3, by_rows=True), np.ndarray)


def unaligned(array):
    """A copy that starts at an odd byte."""
    moved = np.zeros(array.nbytes + 1, dtype=np.uint8)[1:].view(np.float64).reshape(array.shape)
    moved[:] = array
    return moved


@pytest.mark.parametrize(
    "convert",
    [
        np.asfortranarray,
        unaligned,
        lambda X: X.astype(np.float32),
        lambda X: X.astype(np.int8),
        sparse.csr_matrix,
        StoredRows,
    ],
    ids=["Fortran", "unaligned", "float32", "int8", "sparse", "stored"],
)
def test_parts_by_rows_get_blocks_of_plain_numbers(seen, convert):
    array = np.round(9 * X)
    rows = seen("selector", convert(array), 3, by_rows=True)
    assert not isinstance(rows, np.ndarray)
    assert (len(rows), rows.shape, rows.dtype) == (30, (30, 4), np.float64)
    for some in (slice(0, 7), slice(25, 99), np.array([29, 0, 12, 0])):
        block = rows[some]
        assert block.dtype == np.float64
        assert block.flags.c_contiguous
        assert block.flags.aligned
        assert_array_equal(block, array[some])


class CountedRows(StoredRows):
    """Rows of a file that notes what is read."""

    def __init__(self, data):
        super().__init__(data)
        self.read = []

    def __getitem__(self, rows):
        self.read.extend(np.arange(len(self))[rows].tolist())
        return super().__getitem__(rows)


def test_lasso_reads_stored_points_once(monkeypatch):
    monkeypatch.setattr("lssc.kernels.lasso.POINTS_PER_READ", 7)
    rows = CountedRows(X)
    codes = code_lasso(rows, [20, 3], lam=10.0)
    assert sorted(rows.read) == sorted([*range(30), 20, 3])
    assert_array_equal(codes.matrix.toarray(), code_lasso(X, [20, 3], lam=10.0).matrix.toarray())


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e101])
@pytest.mark.parametrize("some", [slice(14, 28), np.array([3, 17, 4])], ids=["slice", "indices"])
def test_stored_points_are_checked_when_they_are_read(seen, some, value):
    late = X.copy()
    late[17, 1] = value
    rows = seen("coder", StoredRows(late), [0], by_rows=True)
    assert_array_equal(rows[0:14], X[:14])
    with pytest.raises(InputError, match=r"^coder 'example': X holds (nan|inf|1e\+101) at row 17, column 1; "):
        rows[some]


def test_bad_point_late_in_a_file_ends_the_lasso(monkeypatch):
    monkeypatch.setattr("lssc.kernels.lasso.POINTS_PER_READ", 7)
    late = X.copy()
    late[29, 3] = np.inf
    message = r"^coder 'lasso': X holds inf at row 29, column 3; remove or fill such values$"
    with pytest.raises(InputError, match=message):
        code_lasso(StoredRows(late), [0, 1], lam=10.0)


def test_own_part_may_take_further_arguments(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})

    def select(points, m, /, *, share: float = 0.5, **more):
        return points, m, share, more

    points, *rest = component("selector", "example")(select)(X, np.int32(3), share=1, colour="red")
    assert points is X
    assert rest == [3, 1.0, {"colour": "red"}]
    with pytest.raises(InputError, match=r"^selector 'example': points is 4; give two dimensions"):
        component("selector", "example")(select)(X[0], 3)


def test_own_refiner_may_do_without_a_number_of_clusters(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})
    refine = component("refiner", "example")(lambda X, labels: labels)
    assert refine(X, list(range(30))).tolist() == list(range(30))
    with pytest.raises(InputError, match="labels from 1 to 30; clusters are 0 to 29"):
        refine(X, np.arange(30) + 1)


def test_function_and_registered_part_check_alike():
    for call in (code_lasso, registry.find("coder", "lasso")):
        with pytest.raises(ValueError, match=r"^coder 'lasso': lam=-1.0 must be greater than 0$"):
            call(X, [0, 1], lam=-1)
