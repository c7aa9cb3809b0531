"""Folders as published: Extended Yale B, COIL-20 and Hopkins 155, made here in small."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image
from scipy.io import savemat

from lssc.data.datasets.file import file
from lssc.data.files.content import content_of
from lssc.data.files.points import PointsFile
from lssc.errors import InputError

RNG = np.random.default_rng(8)


def save(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)


@pytest.fixture
def yale(tmp_path):
    """CroppedYale: a folder of PGM files for each person, one of them without flash, and files marked as bad."""
    for person in (1, 2, 11):
        for angle in ("A+000E+00", "A+005E-10", "A-110E+65"):
            name = f"yaleB{person:02d}_P00{angle}.pgm"
            save(tmp_path / f"yale/yaleB{person:02d}/{name}", RNG.integers(256, size=(8, 6), dtype=np.uint8))
        save(tmp_path / f"yale/yaleB{person:02d}/yaleB{person:02d}_P00_Ambient.pgm", np.zeros((20, 30), np.uint8))
        (tmp_path / f"yale/yaleB{person:02d}/yaleB{person:02d}_P00A+050E-40.pgm.bad").write_bytes(b"bad")
        (tmp_path / f"yale/yaleB{person:02d}/yaleB{person:02d}_P00.info").write_text("info")
    return tmp_path / "yale"


@pytest.fixture
def coil(tmp_path):
    """COIL-20: objects 1, 2 and 10 from four sides."""
    for thing in (1, 2, 10):
        for view in (0, 1, 2, 10):
            save(tmp_path / f"coil/obj{thing}__{view}.png", np.full((4, 4), 10 * thing + view, np.uint8))
    return tmp_path / "coil"


def test_people_of_extended_yale_b_are_folders(yale):
    points = PointsFile(yale, labels_in="folder", shrink=2)
    assert points.shape == (9, 12)
    assert points.labels.names == ("yaleB01", "yaleB02", "yaleB11")
    assert_array_equal(points.labels.numbers, np.repeat([0, 1, 2], 3))
    first = np.asarray(Image.open(yale / "yaleB01/yaleB01_P00A+000E+00.pgm"), dtype=float) / 255
    assert_allclose(points.checked_rows(slice(0, 1))[0], first.reshape(4, 2, 3, 2).mean(axis=(1, 3)).ravel())


def test_objects_of_coil_20_are_names_in_the_order_of_their_numbers(coil):
    points = PointsFile(coil, labels_in="name")
    assert points.labels.names == ("obj1", "obj10", "obj2")
    assert_array_equal(points.labels.numbers, np.repeat([0, 2, 1], 4))
    assert_allclose(points.checked_rows(slice(0, 5))[:, 0] * 255, [10, 11, 12, 20, 20])


def test_dataset_draws_pictures_and_knows_a_folder_by_its_content(coil):
    before = content_of([coil])
    points = file(7, path=str(coil), labels="name", content=before, centre=True, rng=np.random.default_rng(0))
    assert points.X.shape == (7, 16)
    assert_allclose(points.X.mean(axis=0), 0, atol=1e-12)
    (coil / "notes.txt").write_text("not read")
    assert content_of([coil]) == before
    (coil / "obj1__0.png").rename(coil / "obj3__0.png")
    assert content_of([coil]) != before
    with pytest.raises(InputError, match="coil: has changed: its SHA-256 is"):
        file(7, path=str(coil), content=before, rng=np.random.default_rng(0))


def test_yale_b_as_one_array_has_the_person_on_the_last_axis(tmp_path):
    Y = RNG.integers(256, size=(6, 4, 3), dtype=np.uint8)
    savemat(tmp_path / "YaleBCrop025.mat", {"Y": Y, "Ind": np.arange(5)}, do_compression=True)
    points = PointsFile(tmp_path / "YaleBCrop025.mat", key="Y", labels_in="last_axis")
    assert points.shape == (12, 6)
    assert_array_equal(points.checked_rows(slice(None))[5], Y[:, 1, 1])
    assert_array_equal(points.labels.numbers, np.repeat([0, 1, 2], 4))
    with pytest.raises(InputError, match=r"'Ind' has shape \(1, 5\); labels: last_axis needs three dimensions"):
        _ = PointsFile(tmp_path / "YaleBCrop025.mat", key="Ind", labels_in="last_axis").shape


TRACKS = RNG.normal(size=(5, 4, 2))  # points x frames x coordinates


@pytest.fixture
def sequence(tmp_path):
    """A sequence of Hopkins 155: five points in four frames, in homogeneous coordinates."""
    (tmp_path / "1R2RC").mkdir()
    x = np.concatenate([TRACKS.transpose(2, 0, 1), np.ones((1, 5, 4))])
    savemat(tmp_path / "1R2RC/1R2RC_truth.mat", {"x": x, "s": np.array([[1], [2], [1], [3], [2]]), "width": 640.0})
    (tmp_path / "1R2RC/1R2RC_tracks.avi").write_bytes(b"video")
    return tmp_path / "1R2RC"


def test_motion_sequence_has_one_point_per_trajectory(sequence):
    points = PointsFile(sequence, labels_in="s")
    assert points.shape == (5, 8)
    assert_allclose(points.checked_rows(slice(None)), TRACKS.reshape(5, 8))
    assert_array_equal(points.labels.numbers, [0, 1, 0, 2, 1])


def test_trajectories_may_be_columns(sequence):
    savemat(sequence / "1R2RC_truth.mat", {"x": TRACKS.reshape(5, 8).T, "s": np.arange(5)})
    assert_allclose(PointsFile(sequence, labels_in="s").checked_rows(slice(None)), TRACKS.reshape(5, 8))


def test_mistakes_about_folders_are_one_line(sequence, coil, tmp_path):
    (tmp_path / "empty").mkdir()
    cases = {
        "empty: holds neither pictures": PointsFile(tmp_path / "empty"),
        "coil: labels 'class' of pictures must be 'folder' or 'name'": PointsFile(coil, labels_in="class"),
        "1R2RC: labels 'name' of a motion sequence must be 's'": PointsFile(sequence, labels_in="name"),
        "coil: has columns, no arrays; leave out the key 'X'": PointsFile(coil, key="X"),
    }
    for message, points in cases.items():
        with pytest.raises(InputError, match=message):
            _ = points.shape, points.labels
    savemat(sequence / "1R2RC_truth.mat", {"x": np.ones((5, 5, 5))})
    with pytest.raises(InputError, match=r"trajectories of shape \(5, 5, 5\); they need 3 x points x frames"):
        _ = PointsFile(sequence).shape
    savemat(sequence / "1R2RC_truth.mat", {"y": np.ones((4, 5))})
    with pytest.raises(InputError, match="has no array 'x' of trajectories"):
        _ = PointsFile(sequence).shape
    savemat(sequence / "other_truth.mat", {"y": np.ones((4, 5))})
    with pytest.raises(InputError, match=r"holds 2 files \*_truth.mat; name the folder of one sequence"):
        _ = PointsFile(sequence).shape


def test_damaged_picture_is_reported_by_name(coil):
    (coil / "obj2__1.png").write_bytes((coil / "obj2__1.png").read_bytes()[:40])
    with pytest.raises(InputError, match=r"obj2__1.png: no picture, or cut short or damaged"):
        _ = PointsFile(coil).X
