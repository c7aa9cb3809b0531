"""The contract of parts, tested on every registered part."""

import contextlib
import inspect
import json
import subprocess
import sys
from typing import get_origin, get_type_hints

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.contract.calls import (
    ALL,
    PARAMS,
    STEPS,
    K,
    N,
    arrays_of,
    generator,
    landmarks_for,
    locked,
    part_id,
    parts_of,
    run,
)  # fmt: skip

from lssc import types as rows
from lssc.errors import ConfigError
from lssc.parts.coders.lasso import code_lasso
from lssc.parts.compiling import UNCACHED
from lssc.parts.params import Text
from lssc.parts.registry import SUPPLIED, find, module_of, names
from lssc.parts.results import require_result
from lssc.pipeline.study.steps import KINDS

# Packages that take too long to import for a module that may not use them.
HEAVY = "sklearn sklearn_extra pandas matplotlib seaborn spams kmedoids kymatio numba torch umap pynndescent"


def every(kind):
    return pytest.mark.parametrize("part", [find(kind, name) for name in names(kind)], ids=names(kind))


LABELLING = [find(kind, name) for kind in ("clusterer", "method") for name in names(kind)]
every_part = pytest.mark.parametrize("part", [find(*key) for key in ALL], ids=["-".join(key) for key in ALL])


@pytest.fixture
def codes(X, part):
    """Read-only codes by all points or by M landmarks."""
    matrix = code_lasso(X, landmarks_for(part), lam=10.0).matrix
    for array in (matrix.data, matrix.indices, matrix.indptr):
        locked(array)
    return matrix


@pytest.fixture(scope="module")
def features(tmp_path_factory):
    """Features of 2 N images in two files."""
    from lssc.pipeline.store.artifacts import reading, writing
    from lssc.pipeline.store.features import ONLY, Features, feature_record

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
    return locked(generator(3).integers(256, size=(4, 30, 28), dtype=np.uint8))


def draw(part, features):
    return part(N, n_clusters=K, features=features, rng=generator(), **PARAMS.get(part.name, {}))


@every_part
def test_has_module_name_docstrings_and_annotations(part):
    module = sys.modules[part.function.__module__]
    assert module.__name__ == module_of(part.kind, part.name)
    assert module.__doc__.strip()
    assert part.function.__doc__.strip()
    assert set(get_type_hints(part.function)) == {*inspect.signature(part.function).parameters, "return"}


@every_part
def test_default_parameters_are_valid(part, image_config):
    for argument in inspect.signature(part.function).parameters.values():
        if argument.name in SUPPLIED:
            assert argument.kind is argument.KEYWORD_ONLY
    required = {name for name, default in part.defaults.items() if default is inspect.Parameter.empty}
    assert required <= set(PARAMS.get(part.name, {})), f"add the required parameters of {part.name} to PARAMS"
    params = {k: v for k, v in part.defaults.items() if k not in required} | PARAMS.get(part.name, {})
    load(config_with(image_config, part, params))


# Path in config of a part of each kind.
PLACES = {
    "source": "images.probe.sources",
    "reader": "tables.probe.reader",
    "features": "images.probe.features",
    "dataset": "datasets.probe.generator",
    **{kind: f"methods.probe.{kind}" for kind in KINDS},
}


def load(config):
    # Imported on use: the pipeline needs packages that only an extra brings.
    from lssc.pipeline.study.load import load

    return load(config)


def config_with(config, part, params):
    """A config with this part and these parameters in the images, table, dataset or method `probe`."""
    entry = {"name": part.name, **params}
    table, _, key = PLACES[part.kind].split(".")
    base = config[table][{"images": "tiny", "tables": "tiny_table", "datasets": "plain", "methods": "fsc"}[table]]
    pair = {"selector": "all", "coder": {"name": "lasso", "lam": 10}} if part.needs_all else {}
    base = {"label": "probe"} if part.kind == "method" else base
    config[table]["probe"] = {**base, **pair, key: [entry] if part.kind == "source" else entry}
    return config


def is_bad(hint, value):
    """Whether the value is invalid for a parameter of this type; "nonsense" is valid text, [] a valid list."""
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
def test_refuses_invalid_parameter(kind, name, parameter, value, image_config):
    part = find(kind, name)
    with pytest.raises(ConfigError) as caught:
        load(config_with(image_config, part, {**PARAMS.get(name, {}), parameter: value}))
    place = f"{PLACES[kind]}.0" if kind == "source" else PLACES[kind]
    assert str(caught.value).startswith(f"config: {place}.{parameter}: {value!r} must be ")
    assert len(str(caught.value).splitlines()) == 1


@every_part
def test_refuses_unknown_parameter(part, image_config):
    with pytest.raises(ConfigError, match=rf"\.nonsense: unknown parameter of {part.kind} '{part.name}'"):
        load(config_with(image_config, part, {**PARAMS.get(part.name, {}), "nonsense": 1}))


def test_importing_parts_imports_no_heavy_package():
    script = """
import importlib, sys
for module in sys.argv[2:]:
    importlib.import_module(module)
    assert not (heavy := set(sys.argv[1].split()) & set(sys.modules)), (module, heavy)
"""
    subprocess.run([sys.executable, "-c", script, HEAVY, *(module_of(*key) for key in ALL)], check=True)


# Those whose code is compiled in every process have a test of their own, in tests/unit/parts/methods.
@pytest.mark.parametrize("key", [key for key in ALL if key not in UNCACHED], ids="-".join)
def test_warm_up_can_be_repeated(key):
    find(*key).warm_up()
    find(*key).warm_up()


@every("dataset")
def test_dataset_returns_finite_points_of_every_class(part, features):
    points, again = draw(part, features), draw(part, features)
    require_result(part, points, n=N, n_clusters=K)
    assert (points.X.dtype, points.labels.dtype) == (np.float64, np.int64)
    assert np.isfinite(points.X).all()
    if part.name == "table":  # draws points, whatever their class
        assert_array_equal(np.unique(points.labels), np.arange(K))
    else:
        assert_array_equal(np.bincount(points.labels), np.full(K, N // K))
    assert_array_equal(points.X, again.X)
    assert_array_equal(points.labels, again.labels)


@every("features")
def test_features_are_finite_maps_of_every_image(part, pixels):
    maps, again = (part(pixels, **PARAMS.get(part.name, {})) for _ in range(2))
    assert (maps.ndim, len(maps), maps.dtype) == (3, len(pixels), np.float32)
    assert np.isfinite(maps).all()
    assert_array_equal(maps, again)


@every("selector")
def test_selector_returns_m_distinct_indices(part, X):
    landmarks, again = run(part, X), run(part, X)
    require_result(part, landmarks, n=N, m=len(landmarks_for(part)))
    assert_array_equal(landmarks.indices, again.indices)
    assert json.dumps(landmarks.info) == json.dumps(again.info)


@every("coder")
def test_coder_returns_finite_codes_without_self(part, X):
    codes, again, landmarks = run(part, X), run(part, X), landmarks_for(part)
    require_result(part, codes, n=N, m=len(landmarks))
    assert codes.matrix.dtype == np.float64
    assert np.isfinite(codes.matrix.data).all()
    assert codes.matrix.nnz > 0
    assert_array_equal(codes.matrix.toarray()[landmarks, np.arange(len(landmarks))], 0)
    assert_array_equal(codes.matrix.toarray(), again.matrix.toarray())
    assert json.dumps(codes.info) == json.dumps(again.info)


SELF_ALLOWED = [name for name in names("coder") if "exclude_self" in find("coder", name).defaults]


@pytest.mark.parametrize("part", [find("coder", name) for name in SELF_ALLOWED], ids=SELF_ALLOWED)
def test_coder_may_be_allowed_to_use_the_point_itself(part, X):
    landmarks = landmarks_for(part)
    codes = run(part, X, exclude_self=False).matrix.toarray()[landmarks]
    assert_array_equal(codes.argmax(axis=1), np.arange(len(landmarks)))


@every("embedder")
@pytest.mark.parametrize("n_clusters", [1, 3, 5])
def test_embedder_returns_finite_coordinates(part, codes, n_clusters):
    embedding, again = run(part, codes, n_clusters=n_clusters), run(part, codes, n_clusters=n_clusters)
    require_result(part, embedding, n=N, n_clusters=n_clusters)
    # Some embedders give several vectors for each cluster.
    assert embedding.vectors.shape == (N, len(embedding.values))
    assert len(embedding.values) % n_clusters == 0
    assert np.isfinite(embedding.vectors).all()
    assert np.isfinite(embedding.values).all()
    assert_array_equal(embedding.vectors, again.vectors)
    assert_array_equal(embedding.values, again.values)
    json.dumps(embedding.info)


@pytest.mark.parametrize("part", LABELLING, ids=part_id)
def test_clusterer_or_method_returns_a_label_for_every_point(part, X):
    clusters, again = (part(X, n_clusters=K, rng=generator(), **PARAMS.get(part.name, {})) for _ in range(2))
    require_result(part, clusters, n=N, n_clusters=K)
    assert_array_equal(clusters.labels, again.labels)
    assert json.dumps(clusters.info) == json.dumps(again.info)


BY_ROWS = [key for key in ALL if find(*key).by_rows]


@pytest.mark.parametrize("part", [find(*key) for key in BY_ROWS], ids=["-".join(key) for key in BY_ROWS])
def test_part_by_rows_gives_the_same_from_a_file(part, X, tmp_path, monkeypatch):
    from lssc.pipeline.store.artifacts import Record, reading, writing

    monkeypatch.setattr(rows, "MAX_IN_MEMORY", 0)
    with writing(tmp_path / "x.h5") as writer:
        writer.add(0, Record({"X": X}))
    with reading(tmp_path / "x.h5") as reader:
        points = reader.rows(0, "X")
        assert isinstance(points, rows.StoredRows)
        # Results are small.
        monkeypatch.undo()
        stored, held = run(part, points), run(part, X)
    assert stored.info == held.info
    for one, other in zip(arrays_of(stored), arrays_of(held), strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize("part", parts_of(*STEPS), ids=part_id)
def test_inputs_are_not_changed(part, X, codes):
    """X and the arrays of the codes are read-only, so a write raises; the copies catch writes to other views."""
    before = X.copy(), codes.copy()
    run(part, codes if part.kind == "embedder" else X)
    assert_array_equal(X, before[0])
    for array in ("data", "indices", "indptr"):
        assert_array_equal(getattr(codes, array), getattr(before[1], array))


@every("refiner")
def test_refiner_returns_a_label_for_every_point(part, points):
    X, labels = points
    start = locked(np.where(np.arange(N) % 7, labels, 0))
    one, two = (run(part, X, start) for _ in range(2))
    require_result(part, one, n=N, n_clusters=K)
    assert_array_equal(one.labels, two.labels)
    json.dumps(one.info)
