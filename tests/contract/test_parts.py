"""What every registered part must do, whoever wrote it. A new part is tested by being there.

A part with parameters that config must give needs a line in PARAMS.
"""

import contextlib
import inspect
import json
import subprocess
import sys
from typing import get_origin, get_type_hints

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from lssc import types as rows
from lssc.errors import ConfigError
from lssc.parts.coders.lasso import code_lasso
from lssc.parts.params import Text
from lssc.parts.registry import FOLDERS, SUPPLIED, find, module_of, names
from lssc.parts.results import require_result
from lssc.pipeline.store.artifacts import Record, reading, writing
from lssc.pipeline.store.features import ONLY, Features, feature_record
from lssc.pipeline.study.load import load
from lssc.pipeline.study.steps import KINDS
from lssc.types import Clusters, Codes, Embedding, Landmarks, Points

PARAMS = {
    "npm": {"package": "tiny@1.0.0"},
    "debian": {"package": "tiny"},
    "openml": {"id": 554},
    "images": {"collection": "tiny"},
    "farthest_first": {"lam": 10.0},
    "lasso": {"lam": 10.0},
    "lasso_spams": {"lam": 10.0},
    "omp": {"k": 3},
    "admm": {"alpha": 20.0},
    "admm_modified": {"alpha": 20.0},
    "neighbours": {"t": 4},
    "subspaces": {"dim": 3},
}
# Parts that cost too much to import before they are used.
HEAVY = (
    "sklearn",
    "sklearn_extra",
    "pandas",
    "matplotlib",
    "seaborn",
    "spams",
    "kmedoids",
    "kymatio",
    "numba",
    "torch",
)
N, K, M = 60, 3, 15

ALL = [(kind, name) for kind in FOLDERS for name in names(kind)]


def every(kind):
    return pytest.mark.parametrize("part", [find(kind, name) for name in names(kind)], ids=names(kind))


every_part = pytest.mark.parametrize("part", [find(*key) for key in ALL], ids=["-".join(key) for key in ALL])


def generator(seed=5):
    return np.random.default_rng(seed)


def locked(array):
    array.setflags(write=False)
    return array


def landmarks_for(part):
    return locked(np.arange(N) if part.needs_all or part.name == "all" else generator(1).permutation(N)[:M])


@pytest.fixture
def codes(X, part):
    """Codes that nothing can be written into, by all points or by M landmarks."""
    matrix = code_lasso(X, landmarks_for(part), lam=10.0).matrix
    for array in (matrix.data, matrix.indices, matrix.indptr):
        locked(array)
    return matrix


@pytest.fixture(scope="module")
def features(tmp_path_factory):
    """Features of twice as many images as are drawn, in two files."""
    rng, folder = generator(2), tmp_path_factory.mktemp("features")
    with contextlib.ExitStack() as stack:
        files = []
        for name in ("one.h5", "two.h5"):
            with writing(folder / name) as writer:
                writer.add(ONLY, feature_record(rng.random((N, 7)), rng.permutation(np.arange(N) % K), {}))
            files.append(stack.enter_context(reading(folder / name)))
        yield Features(files)


@pytest.fixture(scope="module")
def pixels():
    return locked(generator(3).integers(256, size=(4, 28, 28), dtype=np.uint8))


def draw(part, features):
    return part(N, n_clusters=K, features=features, rng=generator(), **PARAMS.get(part.name, {}))


def select(part, X):
    return part(X, N if part.needs_all or part.name == "all" else M, rng=generator(), **PARAMS.get(part.name, {}))


def code(part, X, **more):
    return part(X, landmarks_for(part), rng=generator(), **PARAMS.get(part.name, {}), **more)


def embed(part, codes, n_clusters=K):
    return part(codes, n_clusters=n_clusters, rng=generator(), **PARAMS.get(part.name, {}))


@every_part
def test_the_file_has_the_name_of_the_part(part):
    module = sys.modules[part.function.__module__]
    assert module.__name__ == module_of(part.kind, part.name)


@every_part
def test_the_module_and_the_function_say_what_they_do(part):
    for thing in (sys.modules[part.function.__module__], part.function):
        assert thing.__doc__
        assert thing.__doc__.strip()


@every_part
def test_every_argument_and_the_result_are_annotated(part):
    hints = get_type_hints(part.function)
    assert set(hints) == {*inspect.signature(part.function).parameters, "return"}


@every_part
def test_parameters_are_keyword_only_with_defaults_that_are_allowed(part, image_config):
    for argument in inspect.signature(part.function).parameters.values():
        if argument.name in SUPPLIED:
            assert argument.kind is argument.KEYWORD_ONLY
    required = {name for name, default in part.defaults.items() if default is inspect.Parameter.empty}
    assert required <= set(PARAMS.get(part.name, {})), f"give {part.name}'s parameters a line in PARAMS"
    told = {k: v for k, v in part.defaults.items() if k not in required} | PARAMS.get(part.name, {})
    load(config_with(image_config, part, told))


# Where config has a part of a kind.
PLACES = {
    "source": "images.probe.sources",
    "features": "images.probe.features",
    "dataset": "datasets.probe.generator",
    **{kind: f"methods.probe.{kind}" for kind in KINDS},
}


def config_with(config, part, params):
    """A config whose images, dataset or method `probe` has this part with these parameters."""
    entry = {"name": part.name, **params}
    table, _, key = PLACES[part.kind].split(".")
    base = config[table][{"images": "tiny", "datasets": "plain", "methods": "fsc"}[table]]
    pair = {"selector": "all", "coder": {"name": "lasso", "lam": 10}} if part.needs_all else {}
    base = {"label": "probe"} if part.kind == "method" else base
    config[table]["probe"] = {**base, **pair, key: [entry] if part.kind == "source" else entry}
    return config


def is_bad(hint, value):
    """Whether no parameter of this type may have the value: nonsense is still text, and an empty list is a list."""
    return not (value == "nonsense" and getattr(hint, "__origin__", hint) in (str, Text)) and not (
        value == [] and get_origin(hint) is tuple
    )


BAD = [
    (*key, parameter, value)
    for key in ALL
    for parameter in find(*key).defaults
    for value in (None, [], {}, "nonsense", float("nan"))
    if is_bad(find(*key).hints[parameter], value)
]


@pytest.mark.parametrize(("kind", "name", "parameter", "value"), BAD, ids=["-".join(map(str, case)) for case in BAD])
def test_a_bad_parameter_is_refused_by_name_with_its_value(kind, name, parameter, value, image_config):
    part = find(kind, name)
    with pytest.raises(ConfigError) as caught:
        load(config_with(image_config, part, {**PARAMS.get(name, {}), parameter: value}))
    place = f"{PLACES[kind]}.0" if kind == "source" else PLACES[kind]
    assert str(caught.value).startswith(f"config: {place}.{parameter}: {value!r} must be ")
    assert len(str(caught.value).splitlines()) == 1


@every_part
def test_an_unknown_parameter_is_refused_by_name(part, image_config):
    with pytest.raises(ConfigError, match=rf"\.nonsense: unknown parameter of {part.kind} '{part.name}'"):
        load(config_with(image_config, part, {**PARAMS.get(part.name, {}), "nonsense": 1}))


@pytest.fixture(scope="module")
def heavy_imports():
    """Module of a part -> the heavy packages that importing it brought in, found in a fresh process."""
    script = """
import importlib, json, sys
modules, heavy = json.loads(sys.argv[1]), json.loads(sys.argv[2])
found = {}
for module in modules:
    before = set(sys.modules)
    importlib.import_module(module)
    found[module] = sorted({name.split(".")[0] for name in set(sys.modules) - before} & set(heavy))
print(json.dumps(found))
"""
    modules = [module_of(*key) for key in ALL]
    answer = subprocess.run(
        [sys.executable, "-c", script, json.dumps(modules), json.dumps(HEAVY)],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(answer.stdout)


@every_part
def test_importing_a_part_brings_in_nothing_heavy(part, heavy_imports):
    assert heavy_imports[module_of(part.kind, part.name)] == []


@every_part
def test_warming_up_works_and_can_be_repeated(part):
    part.warm_up()
    part.warm_up()


@every("dataset")
def test_a_dataset_gives_finite_points_with_balanced_labels(part, features):
    points = draw(part, features)
    assert isinstance(points, Points)
    assert points.X.ndim == 2
    assert (points.X.dtype, points.labels.dtype) == (np.float64, np.int64)
    assert np.isfinite(points.X).all()
    assert_array_equal(np.bincount(points.labels), np.full(K, N // K))
    assert len(points.X) == N


@every("dataset")
def test_a_dataset_is_the_same_for_the_same_rng(part, features):
    one, two = draw(part, features), draw(part, features)
    assert_array_equal(one.X, two.X)
    assert_array_equal(one.labels, two.labels)


@every("features")
def test_features_are_finite_maps_of_every_image_and_the_same_again(part, pixels):
    maps = part(pixels, **PARAMS.get(part.name, {}))
    assert maps.ndim == 3
    assert (len(maps), maps.dtype) == (len(pixels), np.float32)
    assert np.isfinite(maps).all()
    assert_array_equal(maps, part(pixels, **PARAMS.get(part.name, {})))


@every("selector")
def test_a_selector_gives_m_distinct_indices_in_range(part, X):
    landmarks = select(part, X)
    m = N if part.needs_all or part.name == "all" else M
    assert isinstance(landmarks, Landmarks)
    assert landmarks.indices.dtype == np.int64
    assert landmarks.indices.shape == (m,)
    assert len(np.unique(landmarks.indices)) == m
    assert landmarks.indices.min() >= 0
    assert landmarks.indices.max() < N


@every("selector")
def test_a_selector_is_the_same_for_the_same_rng(part, X):
    one, two = select(part, X), select(part, X)
    assert_array_equal(one.indices, two.indices)
    assert one.info == two.info


@every("selector")
def test_the_facts_of_a_selector_can_be_kept(part, X):
    json.dumps(select(part, X).info)


@every("coder")
def test_a_coder_gives_finite_sparse_codes_of_every_point_by_every_landmark(part, X):
    codes = code(part, X)
    assert isinstance(codes, Codes)
    assert sparse.issparse(codes.matrix)
    assert codes.matrix.format == "csr"
    assert codes.matrix.shape == (N, N if part.needs_all or part.name == "all" else M)
    assert codes.matrix.dtype == np.float64
    assert np.isfinite(codes.matrix.data).all()
    assert codes.matrix.nnz > 0
    json.dumps(codes.info)


@every("coder")
def test_a_coder_leaves_a_landmark_out_of_its_own_code(part, X):
    landmarks = landmarks_for(part)
    own = code(part, X).matrix.toarray()[landmarks, np.arange(len(landmarks))]
    assert_array_equal(own, 0)


SELF_ALLOWED = [name for name in names("coder") if "exclude_self" in find("coder", name).defaults]


@pytest.mark.parametrize("part", [find("coder", name) for name in SELF_ALLOWED], ids=SELF_ALLOWED)
def test_a_coder_that_may_use_the_point_itself_does(part, X):
    landmarks = landmarks_for(part)
    own = code(part, X, exclude_self=False).matrix.toarray()[landmarks, np.arange(len(landmarks))]
    assert (own > 0.5).all()


@every("coder")
def test_a_coder_gives_the_same_codes_again(part, X):
    one, two = code(part, X), code(part, X)
    assert_array_equal(one.matrix.toarray(), two.matrix.toarray())
    assert one.info == two.info


@every("embedder")
@pytest.mark.parametrize("n_clusters", [1, 3, 5])
def test_an_embedder_gives_k_finite_coordinates_for_every_point(part, codes, n_clusters):
    embedding = embed(part, codes, n_clusters)
    assert isinstance(embedding, Embedding)
    assert embedding.vectors.shape == (N, n_clusters)
    assert embedding.values.shape == (n_clusters,)
    assert embedding.vectors.dtype == np.float64
    assert np.isfinite(embedding.vectors).all()
    assert np.isfinite(embedding.values).all()
    json.dumps(embedding.info)


@every("embedder")
def test_an_embedder_is_the_same_for_the_same_rng(part, codes):
    one, two = embed(part, codes), embed(part, codes)
    assert_array_equal(one.vectors, two.vectors)
    assert_array_equal(one.values, two.values)


def cluster(part, vectors):
    return part(vectors, n_clusters=K, rng=np.random.default_rng(0), **PARAMS.get(part.name, {}))


@every("clusterer")
def test_a_clusterer_gives_every_point_a_label_and_leaves_its_input_alone(part, rng):
    vectors = rng.standard_normal((N, K))
    before = vectors.copy()
    found = cluster(part, vectors)
    assert isinstance(found, Clusters)
    assert found.labels.shape == (N,)
    assert set(found.labels.tolist()) <= set(range(K))
    assert_array_equal(vectors, before)
    assert_array_equal(found.labels, cluster(part, vectors).labels)
    json.dumps(found.info)


BY_ROWS = [key for key in ALL if find(*key).by_rows]


@pytest.mark.parametrize("part", [find(*key) for key in BY_ROWS], ids=["-".join(key) for key in BY_ROWS])
def test_a_part_that_works_by_rows_gives_the_same_from_a_file(part, X, tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "HELD", 0)
    with writing(tmp_path / "x.h5") as writer:
        writer.add(0, Record({"X": X}))
    call = {"selector": select, "coder": code}[part.kind]
    with reading(tmp_path / "x.h5") as reader:
        stored, held = (call(part, points) for points in (reader.rows(0, "X"), X))
    assert stored.info == held.info
    if part.kind == "selector":
        assert_array_equal(stored.indices, held.indices)
    else:
        assert_array_equal(stored.matrix.toarray(), held.matrix.toarray())


def inputs_and_call(part, X, codes):
    calls = {"selector": (X, select), "coder": (X, code), "embedder": (codes, embed)}
    return calls[part.kind]


STEPS = [key for key in ALL if key[0] in ("selector", "coder", "embedder")]


@pytest.mark.parametrize("part", [find(*key) for key in STEPS], ids=["-".join(key) for key in STEPS])
def test_inputs_are_left_untouched(part, X, codes):
    """X and the arrays of the codes are read-only, so a write raises; the copies catch writes that go around it."""
    before = X.copy(), codes.copy()
    given, call = inputs_and_call(part, X, codes)
    call(part, given)
    assert_array_equal(X, before[0])
    assert (codes != before[1]).nnz == 0
    assert_array_equal(codes.indptr, before[1].indptr)
    assert_array_equal(codes.indices, before[1].indices)


@every("method")
def test_method_labels_every_point_and_repeats_with_the_same_rng(part, X):
    one, two = (part(X, n_clusters=K, rng=generator(), **PARAMS.get(part.name, {})) for _ in range(2))
    require_result(part, one, n=N, n_clusters=K)
    assert_array_equal(one.labels, two.labels)
    json.dumps(one.info)


@every("refiner")
def test_refiner_labels_every_point_and_repeats_with_the_same_rng(part, points):
    X, labels = points
    start = locked(np.where(np.arange(N) % 7, labels, 0))
    one, two = (part(X, start, n_clusters=K, rng=generator(), **PARAMS.get(part.name, {})) for _ in range(2))
    require_result(part, one, n=N, n_clusters=K)
    assert_array_equal(one.labels, two.labels)
    json.dumps(one.info)
