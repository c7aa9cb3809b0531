"""Artifacts are made trial by trial; finished trials of other blocks are reused."""

from types import SimpleNamespace

import h5py
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lssc.errors import DamagedArtifact, InputError, exit_with_message
from lssc.pipeline.store.artifacts import Record, reading, writing
from lssc.pipeline.store.features import ONLY, Features, feature_record
from lssc.pipeline.trials import Trial, make_artifact

RECIPE = {"seed": 1, "n": 60}
SYNTHETIC = {"kind": "dataset", "name": "synthetic", "params": {"noise": 0.1}}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "d/n60").mkdir(parents=True)
    return tmp_path / "d/n60"


@pytest.fixture
def calls():
    """The computed trials in order."""
    return []


@pytest.fixture
def make(folder, calls):
    """Make data.h5 of a block from three random numbers per trial."""

    def compute(trial):
        calls.append(trial.number)
        return Record({"x": trial.rng("draw").random(3)}, {"seconds": 0.5})

    def run(block, *, recipe=RECIPE, code="c", reuse=True, compute=compute, name="data.h5", **options):
        out = folder / block / name
        recipe = {**recipe, "block": block}
        make_artifact(compute, **{"inputs": {}, **options}, out=out, recipe=recipe, code=code, reuse=reuse)
        return out

    return run


def records(path):
    with reading(path) as reader:
        return {t: SimpleNamespace(**vars(reader.record(t)), content=reader.content(t)) for t in reader.trials}


def test_artifact_has_the_trials_of_its_block(make, calls):
    assert list(records(make("t03-06"))) == calls == [3, 4, 5, 6]


def test_record_does_not_depend_on_its_block(make):
    one, two = records(make("t00-04", reuse=False)), records(make("t02-02", reuse=False))
    assert one[2].content == two[2].content
    assert one[2].facts == two[2].facts
    assert len({record.content for record in one.values()}) == 5


def test_record_has_recipe_trial_and_threads(make, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    facts = records(make("tuning04-04"))[4].facts
    assert facts["recipe"] == {"seed": 1, "n": 60, "stream": "tuning"}
    assert (facts["trial"], facts["threads"], facts["seconds"]) == (4, "1", 0.5)


@pytest.mark.parametrize("other", [{"seed": 2}, {"n": 30}, {"block": "tuning02-02"}])
def test_randomness_depends_on_seed_size_and_stream(make, other):
    block = other.pop("block", "t02-02")
    base = records(make("t02-02", reuse=False))[2].content
    assert records(make(block, recipe={**RECIPE, **other}, reuse=False))[2].content != base


def test_randomness_does_not_depend_on_the_rest_of_the_recipe():
    """Methods and stages share trials: only seed, stream, n, trial and the key count."""
    one = Trial(3, {**RECIPE, "stream": "t", "m": 5, "part": "x"}, {}, Features([]))
    two = Trial(3, {**RECIPE, "stream": "t"}, {}, Features([]))
    assert_array_equal(one.rng("data").random(4), two.rng("data").random(4))
    assert one.rng("data").random() != one.rng("landmarks").random()


def test_trials_of_another_block_are_reused(make, calls):
    old = records(make("t00-01"))
    calls.clear()
    new = records(make("t00-03"))
    assert calls == [2, 3]
    assert list(new) == [0, 1, 2, 3]
    for trial in old:
        assert new[trial].content == old[trial].content
        assert new[trial].facts == old[trial].facts


def test_trials_are_reused_without_being_read(make, monkeypatch):
    old = records(make("t00-01"))
    monkeypatch.setattr("h5py.Dataset.__getitem__", lambda *_: pytest.fail("read"))
    path = make("t01-01")
    monkeypatch.undo()
    assert records(path)[1].content == old[1].content


def test_block_can_reuse_several_others(make, calls):
    make("t00-01"), make("t02-03")
    calls.clear()
    make("t01-02")
    assert calls == []


@pytest.mark.parametrize(
    ("block", "change"),
    [
        ("t00-01", {"reuse": False}),
        ("t00-01", {"code": "other"}),
        ("t00-01", {"recipe": {**RECIPE, "seed": 2}}),
        ("t00-01", {"recipe": {**RECIPE, "m": 7}}),
        ("tuning00-01", {}),
    ],
    ids=["reuse forbidden", "code", "seed", "parameter", "stream"],
)
def test_trials_made_otherwise_are_not_reused(make, calls, block, change):
    make(block)
    calls.clear()
    make("t00-02", **change)
    assert calls == [0, 1, 2]


def write_input(folder, block, values, seconds=1.0):
    path = folder / block / "input.h5"
    with writing(path) as writer:
        for trial, value in values.items():
            writer.add(trial, Record({"v": np.array([value])}, {"seconds": seconds}))
    return path


def test_trials_are_reused_only_if_inputs_have_the_same_content(make, calls, folder):
    def double(trial):
        calls.append(trial.number)
        return Record({"x": 2 * trial.array("input", "v")})

    old = write_input(folder, "t00-01", {0: 10.0, 1: 11.0})
    make("t00-01", compute=double, inputs={"input": old})
    calls.clear()
    # Trial 0 has the same content and other seconds; trial 1 has changed.
    new = write_input(folder, "t00-02", {0: 10.0, 1: 99.0, 2: 12.0}, seconds=7.0)
    made = records(make("t00-02", compute=double, inputs={"input": new}))
    assert calls == [1, 2]
    assert [float(made[t].arrays["x"][0]) for t in made] == [20, 198, 24]


def write_features(folder, value):
    with writing(folder / "features.h5") as writer:
        writer.add(ONLY, feature_record(np.array([[value]]), np.array([0]), {}))
    return [folder / "features.h5"]


def test_trials_of_other_features_are_not_reused(make, calls, folder):
    def draw(trial):
        calls.append(trial.number)
        return Record({"x": trial.features.rows(np.array([0]))})

    for block, value in (("t00-01", 1.0), ("t00-02", 1.0), ("t00-03", 2.0)):
        made = records(make(block, compute=draw, features=write_features(folder, value)))
        assert {float(record.arrays["x"][0, 0]) for record in made.values()} == {value}
    assert calls == [0, 1, 2, 0, 1, 2, 3]


def test_trial_reads_its_own_inputs_and_their_facts(make, folder):
    path = write_input(folder, "t00-01", {0: 10.0, 1: 11.0}, seconds=3.0)

    def copy(trial):
        return Record({"x": trial.array("input", "v")}, {"took": trial.facts("input")["seconds"]})

    made = records(make("t01-01", compute=copy, inputs={"input": path}))
    assert made[1].arrays["x"].tolist() == [11.0]
    assert made[1].facts["took"] == 3.0


def test_input_without_the_trial_is_refused(make, folder):
    path = write_input(folder, "t00-01", {0: 10.0, 1: 11.0})
    with pytest.raises(DamagedArtifact, match=r"input\.h5"):
        make("t00-04", inputs={"input": path})
    assert not (folder / "t00-04/data.h5").exists()


def test_error_in_a_trial_leaves_no_file(make, folder):
    def fails_late(trial):
        if trial.number == 2:
            raise ValueError("trial 2")
        return Record({})

    with pytest.raises(ValueError, match="trial 2"):
        make("t00-04", compute=fails_late)
    assert list((folder / "t00-04").iterdir()) == []


def test_part_is_warmed_up_before_any_trial(make, monkeypatch):
    from lssc.parts import registry

    events = []
    part = registry.find("dataset", "synthetic")
    warm = registry.Component(part.kind, part.name, part.function, lambda: events.append("warm"))
    monkeypatch.setitem(registry._registered, ("dataset", "synthetic"), warm)

    def compute(trial):
        events.append(trial.number)
        assert trial.part is warm
        return Record({})

    make("t00-01", recipe={**RECIPE, "part": SYNTHETIC}, compute=compute)
    assert events == ["warm", 0, 1]


def break_file(path):
    path.write_text("broken")


def break_an_array(path):
    with h5py.File(path, "r+") as file:
        file["trial_001/x"][0] = 7.0


@pytest.mark.parametrize("damage", [break_file, break_an_array])
def test_trials_of_a_damaged_block_are_computed_again(make, calls, damage):
    expected = records(make("t00-02", reuse=False))
    make("t00-02").unlink()
    damage(make("t00-01"))
    calls.clear()
    made = records(make("t00-02"))
    assert calls == [0, 1, 2]
    assert {t: r.content for t, r in made.items()} == {t: r.content for t, r in expected.items()}


def test_damaged_file_is_moved_aside(make):
    path = make("t00-01")
    with pytest.raises(SystemExit, match=rf"^{path}: broken.*run the same command again"), exit_with_message(path):
        raise DamagedArtifact(path, "broken")
    assert not path.exists()
    assert path.with_name("data.h5.damaged").exists()
    with pytest.raises(SystemExit, match=f"^{path}: gone"), exit_with_message(path):
        raise DamagedArtifact(path, "gone")


def test_first_block_of_all_can_be_made_by_hand(tmp_path):
    out = tmp_path / "fresh/n60/t00-00/data.h5"
    make_artifact(lambda trial: Record({}), inputs={}, out=out, recipe={**RECIPE, "block": "t00-00"})
    assert out.is_file()


def test_singular_matrix_is_reported_in_one_line(make):
    def compute(trial):
        return Record({"x": np.linalg.inv(np.zeros((2, 2)))})

    with pytest.raises(InputError, match=r"^the stage cannot work with its input and parameters in trial 3: Sing"):
        make("t03-04", compute=compute)
