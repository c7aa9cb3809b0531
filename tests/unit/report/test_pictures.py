"""Pictures of one trial on images: what they show, not how they look."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from tests.conftest import changed, problems_of

from lssc.metrics import scores
from lssc.report.pictures import PicturedTrial, draw_clusters, draw_confusion, draw_embedding, draw_landmarks, matched
from lssc.report.style import save


@pytest.fixture
def shown(rng):
    """60 images of 3 classes, most of them in the right cluster."""
    truth = np.repeat(np.arange(3), 20)
    clusters = np.where(rng.random(60) < 0.8, truth, rng.integers(3, size=60))
    pixels = rng.integers(256, size=(60, 8, 6)).astype(np.uint8)
    landmarks = np.sort(rng.choice(60, 45, replace=False))
    return PicturedTrial("FSC", pixels, truth, clusters, landmarks, rng.standard_normal((60, 3)), ["a", "b", "c"])


def drawn_images(axes):
    """How many images a mosaic holds: their places are not all white."""
    canvas = axes.images[0].get_array()
    height, width = 10, 8
    places = itertools.product(range(0, canvas.shape[0], height), range(0, canvas.shape[1], width))
    return sum(bool((canvas[i : i + height, j : j + width] < 255).any()) for i, j in places)


def test_found_clusters_take_the_names_that_fit_best(rng):
    truth = rng.integers(4, size=200)
    noisy = np.where(rng.random(200) < 0.9, truth, rng.integers(4, size=200))
    renamed = rng.permutation(4)[noisy]
    np.testing.assert_array_equal(matched(truth, renamed, 4), matched(truth, noisy, 4))
    assert (matched(truth, renamed, 4) == truth).mean() == pytest.approx(scores(truth, renamed)["accuracy"])


def test_empty_cluster_has_a_name():
    np.testing.assert_array_equal(matched(np.array([0, 1, 2]), np.array([1, 1, 0]), 3), [0, 0, 2])


def test_every_landmark_is_shown_beside_the_number_of_its_class(shown):
    axes = draw_landmarks([shown, shown]).axes
    assert len(axes) == 2
    assert drawn_images(axes[0]) == 45
    counts = np.bincount(shown.truth[shown.landmarks])
    assert [tick.get_text() for tick in axes[0].get_yticklabels()] == [
        f"{n} ({c})" for n, c in zip("abc", counts, strict=True)
    ]


def test_images_in_a_cluster_of_another_class_are_framed(shown):
    axes = draw_clusters([shown], np.random.default_rng(0)).axes[0]
    assert drawn_images(axes) == 60
    assert len(axes.patches) == (shown.truth != shown.clusters).sum()


def test_confusion_matrix_counts_every_image(shown):
    axes = draw_confusion([shown]).axes[0]
    counts = [int(text.get_text()) for text in axes.texts]
    assert sum(counts) == 60
    assert sum(counts[:: 3 + 1]) == (shown.truth == shown.clusters).sum()


def test_plane_shows_every_point_and_marks_wrong_ones(shown):
    axes = draw_embedding([shown], np.random.default_rng(0)).axes[0]
    right, wrong = (len(points.get_offsets()) for points in axes.collections)
    assert (right, wrong) == ((shown.truth == shown.clusters).sum(), (shown.truth != shown.clusters).sum())


def drawn(trial, folder):
    for draw in (draw_landmarks, draw_confusion):
        save(draw([trial]), folder / "x.png")
    for draw in (draw_clusters, draw_embedding):
        save(draw([trial], np.random.default_rng(0)), folder / "x.png")


def test_names_that_look_like_formulas_are_drawn_as_they_are(shown, tmp_path):
    drawn(replace(shown, label="$\\frac$", names=["$\\frac$", "_b", "a \\ {c}"]), tmp_path)


def test_single_class_can_be_drawn(shown, tmp_path):
    one = np.zeros(60, dtype=int)
    drawn(replace(shown, truth=one, clusters=one, vectors=shown.vectors[:, :1], names=["a"]), tmp_path)


@pytest.mark.parametrize(
    ("experiment", "pictures", "wanted"),
    [
        ("seen", {"m": 7, "methods": ["fsc"]}, "experiments.seen.pictures.m: 7 must be one of the experiment's m: 6"),
        ("seen", {"m": 6, "methods": ["omp"]}, "experiments.seen.pictures.methods: 'omp' is not run by the experiment"),
        ("line", {"m": 6, "methods": ["fsc"]}, "experiments.line.pictures: the points of 'plain' are no images"),
        ("sweeping", {"m": 6, "methods": ["fsc"]}, "experiments.sweeping.pictures: a sweep has none"),
    ],
)
def test_pictures_of_what_is_not_run_are_refused(image_config, experiment, pictures, wanted):
    lines = problems_of(changed(image_config, f"experiments.{experiment}.pictures", pictures))
    assert [line.removeprefix("config: ")[: len(wanted)] for line in lines] == [wanted]


def test_pictures_are_of_one_collection(image_config):
    image_config["images"]["other"] = image_config["images"]["tiny"]
    image_config["datasets"]["others"] = {
        **image_config["datasets"]["two"],
        "generator": {"name": "images", "collection": "other", "classes": [0, 2], "dim": 5},
    }
    seen = image_config["experiments"]["seen"]
    seen["overrides"] = {"esc": {"dataset": "others"}}
    seen["pictures"] = {"m": 6, "methods": ["fsc", "esc"]}
    at = "config: experiments.seen.pictures.methods"
    assert problems_of(image_config) == [
        f"{at}: only methods on images of 'tiny', the experiment's first, can be drawn"
    ]
