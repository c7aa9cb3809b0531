"""Every stage on artifacts of a right checksum and wrong arrays: it works, or tells which file is to blame."""

import contextlib
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lssc.errors import DamagedArtifact, InputError
from lssc.pipeline.stages.cluster_points import cluster_points
from lssc.pipeline.stages.code_points import code_points
from lssc.pipeline.stages.embed_points import embed_points
from lssc.pipeline.stages.generate_data import generate_data
from lssc.pipeline.stages.score_labels import score_labels
from lssc.pipeline.stages.select_landmarks import select_landmarks
from lssc.pipeline.store.artifacts import Record, reading, writing
from lssc.pipeline.trials import make_artifact
from lssc.report.stages.compare_embeddings import agreement

N, M, K = 12, 5, 2
# Stage -> what it computes, its inputs, and parts with their parameters.
STAGES = {
    "landmarks": (
        select_landmarks,
        ("data",),
        [("selector", "uniform", {}), ("selector", "kmedoids", {}), ("selector", "farthest_first", {"lam": 10.0})],
    ),
    "codes": (
        code_points,
        ("data", "landmarks"),
        [
            ("coder", "lasso", {"lam": 10.0}),
            ("coder", "omp", {"k": 2}),
            ("coder", "admm", {"alpha": 20.0, "products": "low_rank"}),
            ("coder", "admm_modified", {"alpha": 20.0}),
        ],
    ),
    "embedding": (
        embed_points,
        ("codes",),
        [
            ("embedder", "landmark_svd", {}),
            ("embedder", "affinity", {}),
            ("embedder", "neighbours", {"t": 3}),
            ("embedder", "explicit", {}),
        ],
    ),
    "labels": (cluster_points, ("embedding",), [("clusterer", "kmeans", {})]),
    "scores": (score_labels, ("data", "landmarks", "codes", "embedding", "labels"), [(None, None, {})]),
}
CASES = [(stage, part) for stage, (_, _, parts) in STAGES.items() for part in parts]


def recipe(kind, name, params):
    part = {"part": {"kind": kind, "name": name, "params": params}} if kind else {}
    return {"seed": 1, "n": N, "m": N if name == "all" else M, "n_clusters": K, "block": "t00-00", **part}


def make(stage, part, inputs, out):
    compute, needed, _ = STAGES[stage]
    make_artifact(compute, inputs={name: inputs[name] for name in needed}, out=out, recipe=recipe(*part), reuse=False)
    return out


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The artifacts of a small run, by stage: with landmarks (few), and with all points as landmarks (all)."""
    folder = tmp_path_factory.mktemp("sound")
    made = {"unit_norm": True, **recipe("dataset", "synthetic", {"ambient_dim": 4, "subspace_dim": 2})}
    make_artifact(generate_data, inputs={}, out=folder / "data.h5", recipe=made)
    found = {}
    for which, selector, embedder in (("few", "uniform", "landmark_svd"), ("all", "all", "affinity")):
        parts = {
            "landmarks": ("selector", selector, {}),
            "codes": ("coder", "lasso", {"lam": 10.0}),
            "embedding": ("embedder", embedder, {}),
            "labels": ("clusterer", "kmeans", {}),
        }
        found[which] = {"data": folder / "data.h5"}
        for stage, part in parts.items():
            found[which][stage] = make(stage, part, found[which], folder / which / f"{stage}.h5")
    return found


KINDS = st.sampled_from(["f8", "f4", "i8", "i4", "u1", "?"])
NUMBERS = st.sampled_from([0, 1, -1, 2, 0.5, 1e-300, 5e-324, 1e150, -1e150, 1e300, 1.7e308, 3, 11, 12, 255, 2**40])


@st.composite
def altered(draw, array):
    """An array in place of another: of its shape or of any, with some numbers or all of them replaced."""
    array = np.array(array)
    match draw(st.sampled_from(["some", "all", "rows", "columns", "any", "type"])):
        case "some" if array.size:
            for _ in range(draw(st.integers(1, 3))):
                array.flat[draw(st.integers(0, array.size - 1))] = as_type(draw(NUMBERS), array.dtype)
        case "all":
            array = np.full(array.shape, as_type(draw(NUMBERS), array.dtype))
        case "rows" if array.ndim:
            array = array[: draw(st.integers(0, len(array)))] if draw(st.booleans()) else np.concatenate([array, array])
        case "columns" if array.ndim > 1:
            array = array[:, : draw(st.integers(0, array.shape[1]))]
        case "type":
            array = array.astype(draw(KINDS))
        case _:
            shape = draw(st.lists(st.integers(0, N), max_size=3))
            array = np.full(shape, as_type(draw(NUMBERS), np.dtype(kind := draw(KINDS))), dtype=kind)
    return array


def as_type(number, dtype):
    with np.errstate(all="ignore"):
        return np.float64(number).astype(dtype)


FACTS = st.none() | st.booleans() | st.floats() | st.text(max_size=3) | st.lists(st.integers(), max_size=2)


def forge(path, out, data):
    """A copy of an artifact with one array or fact altered, or missing."""
    with reading(path) as reader:
        record = reader.record(0)
    arrays, facts = dict(record.arrays), json.loads(json.dumps(dict(record.facts)))
    if arrays and data.draw(st.integers(0, 4), label="array or fact"):
        name = data.draw(st.sampled_from(sorted(arrays)), label="array")
        arrays[name] = data.draw(altered(arrays[name]), label="altered")
    else:
        arrays.pop(data.draw(st.sampled_from(["none", *sorted(arrays)]), label="missing"), None)
        facts[data.draw(st.sampled_from(sorted(facts)), label="fact")] = data.draw(FACTS, label="as")
    with writing(out) as writer:
        writer.add(0, Record(arrays, facts))
    return out


@settings(max_examples=150)
@given(st.sampled_from(CASES), st.sampled_from(["few", "all"]), st.data())
def test_every_stage_works_or_blames_a_file(sound, tmp_path_factory, case, which, data):
    (stage, part), inputs = case, dict(sound[which])
    victim = data.draw(st.sampled_from(STAGES[stage][1]), label="input")
    folder = tmp_path_factory.getbasetemp() / "forged"
    inputs[victim] = forge(inputs[victim], folder / f"{victim}.h5", data)
    with (
        contextlib.suppress(DamagedArtifact, InputError),
        reading(make(stage, part, inputs, folder / "out.h5")) as reader,
    ):
        assert reader.record(0).facts["trial"] == 0


@pytest.mark.parametrize("part", STAGES["landmarks"][2] + STAGES["codes"][2], ids=lambda part: part[1])
def test_points_too_far_out_for_compiled_code_are_refused(sound, tmp_path, part):
    """Their squares are not finite; the search for farthest points and the lasso crashed on them."""
    inputs = sound["all"] | {"data": tmp_path / "data.h5"}
    with writing(inputs["data"]) as writer:
        writer.add(0, Record({"X": np.full((N, 4), 1e155), "labels": np.zeros(N, dtype=int)}))
    with pytest.raises(DamagedArtifact, match=r"not finite, or beyond 1e\+100"):
        make({"selector": "landmarks", "coder": "codes"}[part[0]], part, inputs, tmp_path / "out.h5")


@pytest.mark.parametrize("part", STAGES["codes"][2], ids=lambda part: part[1])
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (N, "has numbers in indices of trial 0 that are not from 0 to 11"),
        (2**40, "has numbers in indices of trial 0 that are not from 0 to 11"),
        (-1, "has numbers in indices of trial 0 that are not from 0 to 11"),
        (3, "has 12 landmarks; needs .* or more, each once"),
    ],
)
def test_landmarks_that_are_no_points_or_there_twice_are_refused(sound, tmp_path, part, wrong, said):
    inputs = sound["all"] | {"landmarks": tmp_path / "landmarks.h5"}
    with writing(inputs["landmarks"]) as writer:
        writer.add(0, Record({"indices": np.array([wrong, *range(1, N)])}))
    with pytest.raises(DamagedArtifact, match=f"landmarks.h5: {said}"):
        make("codes", part, inputs, tmp_path / "out.h5")


def test_points_that_make_a_matrix_singular_are_told_in_one_line(sound, tmp_path):
    part = ("coder", "admm_modified", {"alpha": 1.7e308, "plain": True})
    inputs = sound["all"] | {"data": tmp_path / "data.h5"}
    with writing(inputs["data"]) as writer:
        writer.add(0, Record({"X": 0.1 * np.eye(1, 4).repeat(N, axis=0), "labels": np.zeros(N, dtype=int)}))
    with pytest.raises(InputError, match=r"^admm_modified cannot work with its input and parameters in trial 0: "):
        make("codes", part, inputs, tmp_path / "out.h5")


@pytest.mark.parametrize("part", STAGES["embedding"][2], ids=lambda part: part[1])
@pytest.mark.parametrize("columns", [N + 1, 2**40])
def test_codes_of_more_landmarks_than_points_are_refused(sound, tmp_path, part, columns):
    with reading(sound["all"]["codes"]) as reader:
        record = reader.record(0)
    with writing(tmp_path / "codes.h5") as writer:
        writer.add(0, Record({**record.arrays, "codes_shape": np.array([N, columns])}, record.facts))
    with pytest.raises(DamagedArtifact, match=f"codes of {columns} landmarks, which cannot be embedded"):
        make("embedding", part, {"codes": tmp_path / "codes.h5"}, tmp_path / "out.h5")


@pytest.mark.parametrize("noise", [1e155, 1e300, 1.7e308])
@pytest.mark.parametrize("unit_norm", [True, False])
def test_points_too_far_out_are_not_even_drawn(tmp_path, noise, unit_norm):
    made = {"unit_norm": unit_norm, **recipe("dataset", "synthetic", {"noise": noise})}
    with pytest.raises(InputError, match=r"'synthetic' gave values that are not finite, or beyond 1e\+100"):
        make_artifact(generate_data, inputs={}, out=tmp_path / "data.h5", recipe=made)


@settings(max_examples=40)
@given(st.sampled_from(["embedding", "labels"]), st.data())
def test_embeddings_are_compared_or_a_file_is_blamed(sound, tmp_path_factory, victim, data):
    inputs = dict(sound["few"])
    inputs[victim] = forge(inputs[victim], tmp_path_factory.getbasetemp() / f"forged/{victim}.h5", data)
    pair = {"n": N, "m": M, "block": "t00-00", "one": [str(sound["few"][name]) for name in ("embedding", "labels")]}
    pair["two"] = [str(inputs[name]) for name in ("embedding", "labels")]
    with contextlib.suppress(DamagedArtifact):
        assert len(list(agreement(pair))) == 1
