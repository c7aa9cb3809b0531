"""Blocks of trials and the paths of artifacts."""

import re

from hypothesis import given
from hypothesis import strategies as st

from lssc.pipeline.study.blocks import Block, blocks, siblings
from lssc.pipeline.study.paths import WILDCARDS, Paths, log_of

STREAM = st.text("abz_", min_size=1, max_size=8)


@given(STREAM, st.integers(1, 300), st.integers(1, 30))
def test_blocks_cover_every_trial_exactly_once_and_in_order(stream, n_trials, size):
    made = blocks(stream, n_trials, size)
    assert [t for block in made for t in block.trials] == list(range(n_trials))
    assert all(len(block.trials) == size for block in made[:-1])


@given(STREAM, st.integers(0, 2000), st.integers(0, 50))
def test_block_can_be_parsed_from_its_name(stream, first, more):
    block = Block(stream, first, first + more)
    assert Block.parse(str(block)) == block
    assert re.fullmatch(WILDCARDS["block"], str(block))


def test_block_names_have_at_least_two_digits():
    assert [str(b) for b in blocks("t", 7, 5)] == ["t00-04", "t05-06"]


def test_every_path_extends_the_one_before():
    paths = Paths("out")
    wildcards = {
        "dataset": "d", "n": 60, "block": "t00-01", "selector": "uniform", "m": 9, "coder": "lasso.lam=10",
        "embedder": "landmark_svd", "clusterer": "kmeans",
    }  # fmt: skip
    made = [paths.artifact(name).format(**wildcards) for name in ("data", "landmarks", "codes", "embedding", "labels")]
    assert made == [
        "out/d/n60/t00-01/data.h5",
        "out/d/n60/t00-01/uniform-m9/landmarks.h5",
        "out/d/n60/t00-01/uniform-m9/lasso.lam=10/codes.h5",
        "out/d/n60/t00-01/uniform-m9/lasso.lam=10/landmark_svd/embedding.h5",
        "out/d/n60/t00-01/uniform-m9/lasso.lam=10/landmark_svd/kmeans/labels.h5",
    ]
    wildcards["chain"] = "uniform-m9/lasso.lam=10/landmark_svd/kmeans"
    assert re.fullmatch(WILDCARDS["chain"], wildcards["chain"])
    assert paths.artifacts_of(wildcards) == made[1:]
    assert paths.scores.format(**wildcards) == made[-1].replace("labels.h5", "scores.h5")
    assert paths.artifact("clusters").format(**wildcards, method="kmeans") == "out/d/n60/t00-01/kmeans/clusters.h5"
    assert paths.artifacts_of({**wildcards, "chain": "kmeans"}) == ["out/d/n60/t00-01/kmeans/clusters.h5"]
    assert paths.experiment("a.csv") == "out/experiments/{experiment}/a.csv"
    assert log_of(paths.data).endswith("/data.log")


def touch(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def test_siblings_are_the_same_file_in_overlapping_blocks(tmp_path):
    n = tmp_path / "d/n60"
    own = touch(n / "t00-04/uniform-m9/landmarks.h5")
    others = [touch(n / f"{block}/uniform-m9/landmarks.h5") for block in ("t00-01", "t04-09")]
    for name in ("t00-01/data.h5", "t00-01/uniform-m8/landmarks.h5", "notes/uniform-m9/landmarks.h5", "t03-03/x"):
        touch(n / name)
    for block in ("t05-09", "tuning00-04"):  # nothing in common with the first five trials
        touch(n / f"{block}/uniform-m9/landmarks.h5")
    assert siblings(own) == sorted(others)


def test_files_outside_a_block_have_no_siblings(tmp_path):
    touch(tmp_path / "a/x.csv")
    assert siblings(touch(tmp_path / "b/x.csv")) == []
    # A folder that does not exist yet.
    assert siblings(tmp_path / "d/n60/t00-04/data.h5") == []
