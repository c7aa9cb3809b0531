"""Every registered part gives a right answer or one clear InputError for any input: never a crash, never nonsense.

Parts come from the registry, so a new one is tested without being named here.
"""

from typing import Annotated, get_args, get_origin

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from tests.contract.calls import ALL, PARAMS, STEPS, K, N, arrays_of, generator, part_id, parts_of, run

from lssc.errors import InputError
from lssc.parts.coders.lasso import code_lasso
from lssc.parts.inputs import CHECKS, MAX_MAGNITUDE
from lssc.parts.params import Above, AtLeast, AtMost, Below
from lssc.parts.registry import FOLDERS, find
from lssc.parts.results import require_result
from lssc.types import Codes, StoredRows


def frame(X):
    return pytest.importorskip("pandas").DataFrame(X)


pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def every(*kinds):
    return pytest.mark.parametrize("part", parts_of(*kinds), ids=part_id)


@pytest.fixture
def array(part, X):
    """The first argument of a part as an array: points, or codes by all points."""
    return code_lasso(X, np.arange(N), lam=10.0).matrix.toarray() if part.kind == "embedder" else X.copy()


def refused(part, message=""):
    return pytest.raises(InputError, match=rf"^{part.kind} '{part.name}': [^\n]*{message}[^\n]*$")


def require_sound_result(part, result, n, n_clusters=K):
    m = {"selector": lambda: len(result.indices), "coder": lambda: result.matrix.shape[1]}.get(part.kind, lambda: 0)()
    require_result(part, result, n=n, m=m, n_clusters=n_clusters)
    assert all(np.isfinite(values).all() for values in arrays_of(result))


def require_same(part, X, plain):
    """A part gives the same for X as for the float64 array `plain`."""
    for expected, found in zip(arrays_of(run(part, plain)), arrays_of(run(part, X)), strict=True):
        assert_array_equal(found, expected)


def with_value(value):
    def change(X):
        X[7, 2] = value
        return X

    return change


BAD = {
    "NaN": (with_value(np.nan), "(holds nan at row 7, column 2; remove|holds NaN)"),
    "infinity": (with_value(np.inf), "(holds inf at row 7, column 2; remove|infinity)"),
    "minus infinity": (with_value(-np.inf), "(holds -inf at row 7, column 2; remove|infinity)"),
    "1e200": (with_value(1e200), r"(holds 1e\+200 at row 7, column 2; scale|beyond 1e\+100)"),
    "-1e101": (with_value(-1e101), r"(holds -1e\+101 at row 7, column 2; scale|beyond 1e\+100)"),
    "no rows": (lambda X: X[:0], r"is 0 x \d+, which is empty"),
    "no columns": (lambda X: X[:, :0], "is 60 x 0, which is empty"),
    "empty list": (lambda X: [], "is 0; give two dimensions"),
    "list of empty lists": (lambda X: [[], []], "is 2 x 0, which is empty"),
    "one dimension": (lambda X: X[0], r"is \d+; give two dimensions, one row per point"),
    "three dimensions": (lambda X: X[None], r"is 1 x 60 x \d+; give two dimensions"),
    "one number": (lambda X: 3.0, "is a single number; give two dimensions"),
    "one number of NumPy": (lambda X: np.float64(3), "is a single number; give two dimensions"),
    "nothing": (lambda X: None, ""),
    "text": (lambda X: X.astype(str), "type <U.*; give real numbers"),
    "a word": (lambda X: "points.csv", "type <U.*; give real numbers"),
    "objects": (lambda X: np.full(X.shape, object()), "is no array of numbers"),
    "huge integers": (lambda X: [[10**400]], "is no array of numbers"),
    "rows of different lengths": (lambda X: [[1.0], [1.0, 2.0]], "give rows of equal length"),
    "complex numbers": (lambda X: X.astype(complex), "type complex128; give real numbers"),
    "dates": (lambda X: np.full(X.shape, "2020-01-01", dtype="datetime64[D]"), "type datetime64"),
    "masked values": (lambda X: np.ma.masked_less(X, 0.1), "has masked values"),
    "data frame with a gap": (lambda X: frame(X).mask(X > 0.3), "(nan|NaN)"),
    "data frame with text": (lambda X: frame(X).assign(name="a"), "is no array of numbers"),
    "codes": (lambda X: Codes(sparse.csr_matrix(X)), ""),
}


def test_every_kind_with_input_has_checks():
    assert {*CHECKS, "source", "reader"} == set(FOLDERS)
    assert set(STEPS) == {*FOLDERS} - {"source", "reader", "dataset", "features"}


@every(*STEPS)
@pytest.mark.parametrize("case", BAD)
def test_refuses_bad_points_and_codes(part, array, case):
    change, message = BAD[case]
    with refused(part, message):
        run(part, change(array))


@every(*STEPS)
@pytest.mark.parametrize("size", [MAX_MAGNITUDE, -MAX_MAGNITUDE, 1e-300])
@pytest.mark.parametrize("where", [slice(None), (7, 2)], ids=["all", "one"])
def test_survives_the_largest_and_smallest_numbers(part, array, size, where):
    """Products overflow in single precision, which fasterpam and lasso use in between, but nothing crashes."""
    array[where] *= size
    with np.errstate(over="ignore"):
        require_sound_result(part, run(part, array), N)


def strided(X):
    return np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2]


def read_only(X):
    X.setflags(write=False)
    return X


VALID = {
    "list": lambda X: X.tolist(),
    "tuple of rows": tuple,
    "data frame": frame,
    "data frame of objects": lambda X: frame(X).astype(object),
    "Fortran order": np.asfortranarray,
    "every second row and column": strided,
    "backwards": lambda X: X[::-1].copy()[::-1],
    "read-only": read_only,
    "other byte order": lambda X: X.astype(">f8"),
    "extended precision": lambda X: X.astype(np.longdouble),
    "array of a subclass": lambda X: X.view(np.matrix),
    "no masked values": np.ma.masked_array,
    "rows of a file": StoredRows,
}


@every(*STEPS)
@pytest.mark.parametrize("case", VALID)
def test_gives_the_same_for_every_kind_of_array(part, array, case):
    require_same(part, VALID[case](array), array.copy())


@every(*STEPS)
@pytest.mark.parametrize("kind", ["float32", "float16", "int64", "int8", "uint8", "bool"])
def test_gives_the_same_for_every_type_of_number(part, array, kind):
    """Numbers of any type give exactly what the same numbers give in double precision."""
    array = np.round(20 * array) if kind != "float32" else array
    array = np.abs(array).astype(kind) if kind in ("uint8", "bool") else array.astype(kind)
    same = array.astype(np.float64)
    require_same(part, array, same)


@every(*STEPS)
def test_reads_memory_maps(part, array, tmp_path):
    np.save(tmp_path / "x.npy", array)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    require_same(part, mapped, array)


SPARSE = {name: getattr(sparse, name) for name in ("csr_matrix", "csr_array", "csc_matrix", "bsr_matrix", "lil_array")}


@every(*STEPS)
@pytest.mark.parametrize("kind", SPARSE)
def test_takes_sparse_matrices_or_says_what_to_do(part, array, kind):
    array[np.abs(array) < 0.1] = 0
    if part.by_rows or part.kind == "embedder":
        require_same(part, SPARSE[kind](array), array)
    else:
        with refused(part, r"is a sparse matrix, which this part cannot use; pass \w+\.toarray\(\)"):
            run(part, SPARSE[kind](array))


SPARSE_BAD = {
    "NaN": lambda C: C.data.__setitem__(3, np.nan),
    "infinity": lambda C: C.data.__setitem__(3, -np.inf),
    "1e200": lambda C: C.data.__setitem__(3, 1e200),
    "column too large": lambda C: C.indices.__setitem__(3, C.shape[1]),
    "negative column": lambda C: C.indices.__setitem__(3, -1),
    "rows out of order": lambda C: C.indptr.__setitem__(3, C.nnz),
    "rows beyond the end": lambda C: C.indptr.__setitem__(-1, C.nnz + 5),
}


@pytest.mark.parametrize("part", [p for p in parts_of(*STEPS) if p.by_rows or p.kind == "embedder"], ids=part_id)
@pytest.mark.parametrize("case", SPARSE_BAD)
def test_refuses_bad_sparse_matrices(part, array, case):
    matrix = sparse.csr_matrix(array)
    SPARSE_BAD[case](matrix)
    with refused(part, "(holds NaN, infinity or numbers beyond|with indices out of range)"):
        run(part, matrix)


def bounded_by_size(part):
    """Whether a parameter has to stay below the number of points or landmarks."""
    return any(isinstance(limit, Below) for hint in part.hints.values() for limit in get_args(hint)[1:])


@every(*STEPS)
def test_one_point_is_enough(part, array):
    one = array[:1, :1] if part.kind == "embedder" else array[:1]
    if bounded_by_size(part):
        with refused(part, "must be below"):
            run(part, one, n=1, n_clusters=1)
    else:
        require_sound_result(part, run(part, one, n=1, n_clusters=1), 1, 1)


SAME = {
    "constant": lambda X: np.ones_like(X),
    "zero": np.zeros_like,
    "duplicates": lambda X: np.repeat(X[:20], 3, axis=0),
    "two distinct": lambda X: X[np.arange(N) % 2],
}


@every(*STEPS)
@pytest.mark.parametrize("case", SAME)
def test_works_on_equal_points(part, array, case):
    require_sound_result(part, run(part, SAME[case](array)), N)


COUNTS = [0, -1, 1.5, 3.0, True, None, "3", np.nan, [3]]
CLUSTERING = [part for part in parts_of("dataset", *STEPS) if "n_clusters" in part.signature.parameters]


@pytest.mark.parametrize("part", CLUSTERING, ids=part_id)
@pytest.mark.parametrize("count", COUNTS, ids=repr)
def test_refuses_bad_number_of_clusters(part, count, X):
    with refused(part, "n_clusters=.* must be a whole number from 1 on"):
        first = N if part.kind == "dataset" else X
        more = [np.zeros(N, dtype=int)] if part.kind == "refiner" else []
        supplied = {"features": None, "coordinates": np.zeros((N, 2)), "rng": generator()}
        part(first, *more, n_clusters=count, **supplied, **PARAMS.get(part.name, {}))


@pytest.mark.parametrize("part", [p for p in CLUSTERING if p.kind != "dataset"], ids=part_id)
def test_refuses_fewer_points_than_clusters(part, array):
    few = array[:5, :5] if part.kind == "embedder" else array[:5]
    with refused(part, "n_clusters=6 must be at most the number of points, 5"):
        run(part, few, n=5, n_clusters=6)


@every("dataset")
@pytest.mark.parametrize("count", COUNTS, ids=repr)
def test_refuses_bad_number_of_points(part, count):
    with refused(part, "n=.* must be a whole number from 1 on"):
        part(count, n_clusters=K, features=None, rng=generator(), **PARAMS.get(part.name, {}))


@every("selector")
@pytest.mark.parametrize("m", [*COUNTS, N + 1], ids=repr)
def test_refuses_bad_number_of_landmarks(part, m, X):
    with refused(part, "m=.*(must be a whole number from 1 on|need m <= 60)"):
        run(part, X, m)


@pytest.mark.parametrize("part", [p for p in parts_of("selector") if p.needs_all], ids=part_id)
def test_selector_of_all_points_refuses_fewer(part, X):
    with refused(part, "m=15 must be the number of points, 60"):
        run(part, X, 15)


LANDMARKS = {
    "none": ([], "is empty"),
    "negative": ([0, -1], "landmarks from -1 to 0; rows of X are 0 to 59"),
    "too large": ([0, N], "landmarks from 0 to 60; rows of X are 0 to 59"),
    "repeated": ([1, 2, 1], "repeat a point"),
    "not whole": ([0.0, 1.0], "must be row numbers from 0 to 59"),
    "not finite": ([0, np.nan], "must be row numbers from 0 to 59"),
    "mask": (np.arange(N) < 5, "must be row numbers from 0 to 59"),
    "text": (["0"], "must be row numbers from 0 to 59"),
    "matrix": ([[0, 1]], "must be row numbers from 0 to 59"),
    "ragged": ([[0], [0, 1]], "must be row numbers from 0 to 59"),
    "nothing": (None, "must be row numbers from 0 to 59"),
}


@every("coder")
@pytest.mark.parametrize("case", LANDMARKS)
def test_refuses_bad_landmarks(part, case, X):
    landmarks, message = LANDMARKS[case]
    with refused(part, message):
        run(part, X, landmarks)


@pytest.mark.parametrize("part", [p for p in parts_of("coder") if p.needs_all], ids=part_id)
@pytest.mark.parametrize("landmarks", [np.arange(9), np.arange(N)[::-1]], ids=["some", "other order"])
def test_coder_of_all_points_refuses_other_landmarks(part, landmarks, X):
    with refused(part, r"must be every point in order: numpy.arange\(60\)"):
        run(part, X, landmarks)


@every("coder")
@pytest.mark.parametrize("kind", [list, np.int32, np.uint8])
def test_takes_landmarks_of_any_whole_type(part, kind, X):
    order = np.arange(N) if part.needs_all else np.arange(9)[::-1]
    other = order.tolist() if kind is list else order.astype(kind)
    for expected, found in zip(arrays_of(run(part, X, order)), arrays_of(run(part, X, other)), strict=True):
        assert_array_equal(found, expected)


START = np.arange(N) % K
LABELS = {
    "too few": (START[:-1], "59 labels for 60 points"),
    "too large": (START + 1, "labels from 1 to 3; clusters are 0 to 2"),
    "negative": (START - 1, "labels from -1 to 1; clusters are 0 to 2"),
    "not whole": (START / 1, "must be whole numbers from 0 to 2, one per point"),
    "matrix": (START[:, None], "must be whole numbers from 0 to 2, one per point"),
    "none": ([], "0 labels for 60 points"),
}


@every("refiner")
@pytest.mark.parametrize("case", LABELS)
def test_refuses_bad_labels(part, case, X):
    labels, message = LABELS[case]
    with refused(part, message):
        run(part, X, labels)


IMAGES = {
    "NaN": np.full((2, 8, 8), np.nan),
    "floats": np.ones((2, 8, 8)),
    "too bright": np.full((2, 8, 8), 256),
    "negative": np.full((2, 8, 8), -1),
    "none": np.zeros((0, 8, 8), dtype=np.uint8),
    "one image": np.zeros((8, 8), dtype=np.uint8),
    "rows of different lengths": [[[1], [1, 2]]],
}


@every("features")
@pytest.mark.parametrize("case", IMAGES)
def test_refuses_bad_images(part, case):
    with refused(part, "pixels (is no array of numbers|of .* are no images|must be whole numbers from 0 to 255)"):
        part(IMAGES[case], **PARAMS.get(part.name, {}))


@every("features")
def test_gives_the_same_for_every_kind_of_images(part):
    images = generator(3).integers(256, size=(2, 18, 16), dtype=np.uint8)
    expected = part(images, **PARAMS.get(part.name, {}))
    for same in (images.tolist(), images.astype(np.int64), np.asfortranarray(images), read_only(images.copy())):
        assert_array_equal(part(same, **PARAMS.get(part.name, {})), expected)


def values_outside(hint):
    """Values that this parameter must not have: outside its bounds, not finite, of another type."""
    base, *limits = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if base not in (int, float):
        return
    yield from (np.nan, np.inf, -np.inf, None, "x", [1], True, np.float32("nan"))
    yield from [10**400] if base is float else [1.5, 2**63]
    for limit in limits:
        if isinstance(limit, Above | AtLeast):
            yield from (limit.low - 1, *([limit.low] if isinstance(limit, Above) else []))
        elif isinstance(limit, AtMost) and isinstance(limit.size, int):
            yield limit.size + 1
        elif isinstance(limit, Below):
            yield N


OUTSIDE = [
    pytest.param(find(*key), name, value, id=f"{'-'.join(key)}-{name}-{value!r:.12}")
    for key in ALL
    for name in find(*key).defaults
    for value in values_outside(find(*key).hints[name])
]


@pytest.mark.parametrize(("part", "name", "value"), OUTSIDE)
def test_refuses_parameters_outside_their_bounds(part, name, value, X):
    first = {"source": "folder", "dataset": N, "features": np.zeros((1, 8, 8), dtype=np.uint8), "embedder": np.eye(N)}
    with refused(part, rf"{name}=.* must be "):
        run(part, first.get(part.kind, X), features=None, **{name: value})


def test_parameters_outside_their_bounds_are_many():
    assert len(OUTSIDE) > 200


@pytest.mark.parametrize("part", [p for p in parts_of(*STEPS) if "rng" in p.signature.parameters], ids=part_id)
@pytest.mark.parametrize("rng", [None, 0, np.random.RandomState(0)], ids=["None", "seed", "RandomState"])
def test_refuses_anything_but_a_generator(part, rng, array):
    with refused(part, r"rng=.* must be a generator, such as numpy\.random\.default_rng\(0\)"):
        run(part, array, rng=rng)


@pytest.mark.parametrize("part", [p for p in parts_of(*STEPS) if "threads" in p.signature.parameters], ids=part_id)
@pytest.mark.parametrize("threads", [0, -1, 1.5, None])
def test_refuses_bad_number_of_threads(part, threads, array):
    with refused(part, "threads=.* must be a whole number from 1 on"):
        run(part, array, threads=threads)
