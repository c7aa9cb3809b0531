"""FSC labels digits it has not seen as well as those it was fitted to."""

import json
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest

import lssc
from lssc.data.images import FILES, read_images
from lssc.errors import InputError
from lssc.estimators.base import one_blas_thread
from lssc.linalg.pca import fit_pca, flat_features
from lssc.metrics import scores
from lssc.parts.registry import find
from lssc.pipeline.stages.fetch_images import fetch
from lssc.pipeline.study.load import load
from lssc.pipeline.study.recipes import images_recipe

pytestmark = pytest.mark.workflow
DIGITS, N, SPLITS = [2, 7, 8, 9], 2000, 20


@pytest.fixture(scope="module")
def digits(request, paper_config):
    """Scattering features of 2,000 digits of four classes, in 100 dimensions, and the classes."""
    recipe = json.loads(images_recipe(load(paper_config), "mnist"))
    images = read_images(fetched(recipe, request.config.cache.mkdir("mnist")), sha256=recipe["sha256"])
    rng = np.random.default_rng(0)
    rows = rng.choice(np.flatnonzero(np.isin(images.labels, DIGITS)), N, replace=False)
    maps = find("features", "scattering")(images.pixels[rows], angles=4)
    flat = flat_features(maps, path_maximum=True)
    with one_blas_thread():
        return fit_pca([flat], dim=100, centre=True).project(flat), images.labels[rows]


def fetched(recipe, folder):
    """The files of the images, kept between runs of the tests."""
    paths = [Path(folder) / name for name in FILES]
    if not all(path.exists() for path in paths):
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            try:
                _, files = fetch(recipe, Path(scratch))
            except (InputError, OSError) as error:
                pytest.skip(str(error))
            for path in paths:
                # Whole files only, should another run of the tests read them at the same time.
                (Path(scratch) / path.name).write_bytes(files[path.name])
                os.replace(Path(scratch) / path.name, path)
    return paths


def test_labels_new_digits_as_well_as_its_own(digits):
    """Mean accuracies over random halves differ by less than .01."""
    X, labels = digits
    own, new = [], []
    for seed in range(SPLITS):
        halves = np.random.default_rng(seed).permutation(N).reshape(2, -1)
        model = lssc.FSC(len(DIGITS), n_landmarks=300, lam=5.0, random_state=seed).fit(X[halves[0]])
        own.append(scores(labels[halves[0]], model.labels_)["accuracy"])
        new.append(scores(labels[halves[1]], model.predict(X[halves[1]]))["accuracy"])
    assert np.mean(own) > 0.8
    assert np.mean(new) == pytest.approx(np.mean(own), abs=0.01)
