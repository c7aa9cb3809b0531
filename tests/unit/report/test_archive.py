"""The archive: the same bytes for the same results, nothing altered goes unseen, one config that repeats the runs."""

import contextlib
import copy
import gzip
import hashlib
import io
import json
import subprocess
import tarfile
import tracemalloc

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from lssc.errors import InputError
from lssc.pipeline.store.files import write_text
from lssc.pipeline.study.recipes import load
from lssc.report import archive as archiving
from lssc.report.archive import compare, main, pack, unpack, verify, whole_config

COLUMNS = "experiment,dataset,n,m,trial,method,accuracy,seconds,code_cpu_seconds,peak_mb,converged"


def git(folder, *command):
    author = ("-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", folder, *author, *command], check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "checkout"
    for name in ("Makefile", "workflow/part.py", "docs/figures/old.png", "run"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    (folder / "run").chmod(0o755)
    git(tmp_path, "init", "-q", folder)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "All")
    return folder


def fragment(config, experiment):
    return json.loads(load(config).fragment(experiment))


def fill(results, config, accuracy=0.9, seconds=1.5):
    """Made-up results of two experiments."""
    for id in ("grid", "line"):
        folder = results / "experiments" / id
        (folder / "figures").mkdir(parents=True)
        rows = [f"{id},plain,30,6,{i},fsc,{accuracy},{seconds},{seconds},{100 * seconds},True" for i in range(2)]
        (folder / "scores.csv").write_text("\n".join([COLUMNS, *rows]) + "\n")
        made = {"commit": "0123456789ab", "config": fragment(config, id)}
        (folder / "provenance.json").write_text(json.dumps(made))
        (folder / "figures/fig.png").write_bytes(b"\x89PNG")
        (folder / "scores.log").write_text("took long")
    (results / "report.html").write_text("<html>")
    (results / "config.json").write_text(json.dumps(config))
    return results


@pytest.fixture
def results(tmp_path, small_config):
    return fill(tmp_path / "results", small_config)


@pytest.fixture
def archive(tmp_path, results, checkout):
    pack(results, tmp_path / "a.tar.gz", checkout)
    return tmp_path / "a.tar.gz"


def contents(archive):
    with tarfile.open(archive) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}


def rewritten(archive, change):
    """The archive with its files changed, whole and well-formed."""
    files = contents(archive)
    change(files)
    with tarfile.open(archive, "w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return archive


def test_an_archive_holds_results_config_source_and_checksums(archive):
    names = {name.removeprefix("lssc-archive/") for name in contents(archive)}
    made = ("scores.csv", "provenance.json", "figures/fig.png")
    inside = {f"results/experiments/{id}/{name}" for id in ("grid", "line") for name in made}
    source = {"source/Makefile", "source/workflow/part.py", "source/run"}
    assert names == {"README.md", "config.yaml", "SHA256SUMS", "results/report.html", *inside, *source}


def test_the_same_results_give_the_same_bytes(tmp_path, small_config, checkout, archive):
    again = fill(tmp_path / "elsewhere/results", small_config)
    (again / "experiments/grid/scores.csv").touch()
    pack(again, tmp_path / "b.tar.gz", checkout)
    assert (tmp_path / "b.tar.gz").read_bytes() == archive.read_bytes()


def test_who_has_only_sha256sum_can_verify(tmp_path, archive):
    subprocess.run(["tar", "-xzf", archive, "-C", tmp_path], check=True)
    folder = tmp_path / "lssc-archive"
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=folder, check=True, capture_output=True)
    assert (folder / "source/run").stat().st_mode & 0o111
    n_files = sum(path.is_file() for path in folder.rglob("*"))
    assert verify(archive) == n_files - 1


SCORES = "lssc-archive/results/experiments/grid/scores.csv"
HARMS = {
    "altered": (lambda files: files.update({SCORES: files[SCORES].replace(b"0.9", b"1.0")}), "match its checksum"),
    "missing": (lambda files: files.pop(SCORES), "not in the archive"),
    "extra": (lambda files: files.update({f"{SCORES}.more": b""}), "not in SHA256SUMS"),
}


@pytest.mark.parametrize("harm", HARMS)
def test_what_is_altered_missing_or_added_is_named(archive, harm):
    change, said = HARMS[harm]
    with pytest.raises(InputError) as caught:
        verify(rewritten(archive, change))
    assert len(str(caught.value).splitlines()) == 1
    assert "results/experiments/grid/scores.csv" in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize("place", [0, 0.01, 0.2, 0.5, 0.9, 0.999])
def test_a_flipped_bit_anywhere_is_seen(archive, place):
    content = bytearray(archive.read_bytes())
    content[int(place * len(content))] ^= 0x10
    archive.write_bytes(content)
    with pytest.raises(InputError, match=r"a\.tar\.gz: "):
        verify(archive)


@pytest.mark.parametrize("kept", [0, 0.3, 0.9, 0.999])
def test_an_archive_that_was_cut_short_is_refused(archive, kept):
    content = archive.read_bytes()
    archive.write_bytes(content[: int(kept * len(content))])
    with pytest.raises(InputError, match=r"a\.tar\.gz: "):
        verify(archive)


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "lssc-archive/../../evil", "other/file", "lssc-archive"])
def test_names_that_lead_elsewhere_are_refused(archive, name):
    with pytest.raises(InputError, match="do not unpack"):
        verify(rewritten(archive, lambda files: files.update({name: b""})))


KINDS = {
    "a link": {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"},
    "a hard link": {"type": tarfile.LNKTYPE, "linkname": "lssc-archive/README.md"},
    "a device": {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 5},
    "a pipe": {"type": tarfile.FIFOTYPE},
    "a folder": {"type": tarfile.DIRTYPE},
    "terminal codes": {"name": "lssc-archive/\x1b[31m"},
    "two lines": {"name": "lssc-archive/a\nb"},
    "zeros that are not there": {"pax_headers": {"GNU.sparse.size": str(2**60), "GNU.sparse.map": "0,0"}},
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_plain_file_is_refused_and_not_unpacked(tmp_path, kind):
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as tar:
        member = tarfile.TarInfo("lssc-archive/file")
        for key, value in KINDS[kind].items():
            setattr(member, key, value)
        tar.addfile(member)
    for read in (verify, lambda path: unpack(path, tmp_path / "out")):
        with pytest.raises(InputError, match="do not unpack") as caught:
            read(tmp_path / "a.tar.gz")
        assert str(caught.value).isprintable()
    assert [path.name for path in tmp_path.iterdir()] == ["a.tar.gz"]


def test_a_file_that_is_there_twice_is_refused(tmp_path):
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as tar:
        for name in ("lssc-archive/a", "lssc-archive/./a"):
            tar.addfile(tarfile.TarInfo(name))
    with pytest.raises(InputError, match=r"a: is in the archive twice"):
        verify(tmp_path / "a.tar.gz")


def headed(size, type=b"0", name=b"lssc-archive/a"):
    """The head of a file in an archive, with a checksum that fits."""
    field = f"{size:011o}".encode() if size < 8**11 else b"\x80" + size.to_bytes(11, "big")
    head = bytearray(name.ljust(100, b"\0") + b"0000644\0" + b"0000000\0" * 2 + field.ljust(12, b"\0") + b"0" * 12)
    head += b" " * 8 + type + bytes(355)
    head[148:156] = f"{sum(head):06o}\0 ".encode()
    return bytes(head)


BOMBS = {
    "a file": headed(2**40),
    "a name": headed(2**40, b"L"),
    "a head": headed(2**40, b"x"),
    "what follows": bytes(1024),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_packed_bomb_is_refused_before_it_fills_memory_or_disk(tmp_path, monkeypatch, bomb):
    monkeypatch.setattr(archiving, "LARGEST", 10_000_000)
    with gzip.open(tmp_path / "a.tar.gz", "wb", compresslevel=1) as file:
        file.write(BOMBS[bomb])
        for _ in range(60):
            file.write(bytes(1_000_000))
    tracemalloc.start()
    with pytest.raises(InputError, match=r"more than 10,000,000 bytes when unpacked"):
        unpack(tmp_path / "a.tar.gz", tmp_path / "out")
    assert tracemalloc.get_traced_memory()[1] < 40_000_000
    tracemalloc.stop()
    assert [path.name for path in tmp_path.iterdir()] == ["a.tar.gz"]


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """An archive of three files."""
    path = tmp_path_factory.mktemp("archive") / "a.tar.gz"
    archiving._write(path, {"a": b"1", "b/c": b"2" * 600, "README.md": b""}, {"a"}, 1_500_000_000)
    return path


@settings(max_examples=100)
@given(st.data())
def test_any_bytes_in_place_of_some_are_noticed_or_harmless(sound, data):
    """Also behind a gzip checksum that fits: what is packed is altered, not the packed file."""
    content = bytearray(gzip.decompress(sound.read_bytes()))
    for _ in range(data.draw(st.integers(1, 4))):
        # Mostly in heads, which begin where a multiple of 512 does.
        start = data.draw(st.integers(0, len(content) // 512 - 1)) * 512 + data.draw(st.integers(0, 520))
        content[start : start + 1] = data.draw(st.binary(min_size=1, max_size=1) | st.just(bytes(512)))
    harmed = sound.with_name("harmed.tar.gz")
    harmed.write_bytes(gzip.compress(content, compresslevel=1, mtime=0))
    with contextlib.suppress(InputError):
        # Parts of the heads, such as owners, may be anything.
        assert verify(harmed) == verify(sound)


def test_an_archive_is_unpacked_as_it_was_packed(sound, tmp_path):
    unpack(sound, tmp_path / "out")
    found = {p.relative_to(tmp_path / "out").as_posix(): p for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert set(found) == {"a", "b/c", "README.md", "SHA256SUMS"}
    assert found["b/c"].read_bytes() == b"2" * 600
    assert [found[name].stat().st_mode & 0o777 for name in ("a", "b/c")] == [0o755, 0o644]
    assert found["a"].stat().st_mtime == 1_500_000_000
    # What a repeat has made there by now is kept, as long as the archive is the same.
    (tmp_path / "out/made").write_text("by a repeat")
    unpack(sound, tmp_path / "out")
    assert (tmp_path / "out/made").exists()


@pytest.mark.parametrize("sums", [None, "0123  thesis.txt\n"], ids=["no checksums", "checksums of something else"])
def test_no_folder_is_replaced(sound, tmp_path, sums):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("years of work")
    if sums:
        (tmp_path / "mine/SHA256SUMS").write_text(sums)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match=r"mine: holds another archive or something else; name another folder or"):
        unpack(sound, tmp_path / "mine")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("time", ["nan", "inf", "-inf", "1e300", "-1"])
def test_a_time_that_no_file_can_have_is_harmless(tmp_path, time):
    sums = f"{hashlib.sha256().hexdigest()}  a\n".encode()
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as tar:
        for name, content in (("a", b""), ("SHA256SUMS", sums)):
            member = tarfile.TarInfo(f"lssc-archive/{name}")
            member.size, member.pax_headers = len(content), {"mtime": time}
            tar.addfile(member, io.BytesIO(content))
    unpack(tmp_path / "a.tar.gz", tmp_path / "out")
    assert (tmp_path / "out/a").stat().st_mtime == 0


def test_a_name_of_a_name_without_end_is_refused(tmp_path):
    with gzip.open(tmp_path / "a.tar.gz", "wb", compresslevel=1) as file:
        file.write((headed(1, b"L") + bytes(512)) * 5000)
    with pytest.raises(InputError, match="cut short, damaged or not an archive"):
        verify(tmp_path / "a.tar.gz")


def test_a_result_that_was_altered_is_not_packed(tmp_path, results, checkout):
    table = results / "experiments/grid/scores.csv"
    write_text(table, table.read_text())
    pack(results, tmp_path / "a.tar.gz", checkout)
    table.write_text(table.read_text().replace("0.9", "0.99", 1))
    with pytest.raises(InputError, match=rf"^{table}: not as it was written; run the workflow again"):
        pack(results, tmp_path / "b.tar.gz", checkout)


def test_links_in_results_are_not_followed_into_an_archive(tmp_path, results, checkout):
    (tmp_path / "secret").write_text("secret")
    (results / "experiments/grid/figures/other.png").symlink_to(tmp_path / "secret")
    pack(results, tmp_path / "a.tar.gz", checkout)
    assert not any(name.endswith("other.png") for name in contents(tmp_path / "a.tar.gz"))


@pytest.mark.parametrize("text", ["[]", "{}", '{"commit": "a", "config": {"seed": "x"}}', "[" * 100_000, "{"])
def test_a_provenance_that_says_nothing_is_told_in_plain_words(tmp_path, results, checkout, text):
    (results / "experiments/grid/provenance.json").write_text(text)
    with pytest.raises(InputError, match=r"grid"):
        pack(results, tmp_path / "a.tar.gz", checkout)


@pytest.mark.parametrize("change", [lambda made: made.pop("commit"), lambda made: made.update(commit=5)])
def test_a_provenance_without_a_commit_says_nothing(tmp_path, results, checkout, change):
    path = results / "experiments/grid/provenance.json"
    made = json.loads(path.read_text())
    change(made)
    path.write_text(json.dumps(made))
    with pytest.raises(InputError, match=r"grid/provenance\.json does not say what made the scores"):
        pack(results, tmp_path / "a.tar.gz", checkout)


def test_a_provenance_of_another_experiment_says_nothing(tmp_path, results, checkout):
    (results / "experiments/line").rename(results / "experiments/other")
    with pytest.raises(InputError, match=r"other/provenance\.json does not say what made the scores"):
        pack(results, tmp_path / "a.tar.gz", checkout)


def test_a_table_that_is_none_is_told_in_one_line(tmp_path, results, small_config):
    other = fill(tmp_path / "other", small_config)
    (other / "experiments/grid/scores.csv").write_bytes(b"\xff\0" * 10)
    with pytest.raises(InputError, match=r"scores\.csv: not a score table"):
        compare(results, other)


def test_times_and_memory_do_not_count_but_accuracy_does(tmp_path, results, small_config):
    slower = fill(tmp_path / "slower", small_config, seconds=7)
    assert compare(results, slower) == (4, [])
    worse = fill(tmp_path / "worse", small_config, accuracy=0.8)
    n_rows, differences = compare(results, worse)
    assert (n_rows, len(differences)) == (4, 4)
    assert differences[0] == "grid: row 1 (method fsc, n 30, m 6, trial 0): accuracy 0.9 -> 0.8"


def test_missing_tables_rows_and_columns_are_differences(tmp_path, results, small_config):
    other = fill(tmp_path / "other", small_config)
    table = other / "experiments/grid/scores.csv"
    table.write_text("\n".join(table.read_text().splitlines()[:-1]).replace(",converged", ",sure") + "\n")
    (other / "experiments/line/scores.csv").unlink()
    _, differences = compare(results, other)
    assert differences == [
        "grid: 2 rows in the archive, 1 in the repeat",
        "grid: row 1 (method fsc, n 30, m 6, trial 0): converged True -> None, sure None -> True",
        f"line: no score table in {other}",
    ]


def test_the_packed_config_runs_what_was_run(archive, small_config):
    config = yaml.safe_load(contents(archive)["lssc-archive/config.yaml"])
    study = load(config)
    assert study.run == ("grid", "line")
    assert study.results == "results"
    assert [id for id in study.run if study.experiments[id].figures] == ["line"]
    for id in study.run:
        made, wanted = fragment(config, id), fragment(small_config, id)
        assert {**made, "results": ""} == {**wanted, "results": ""}


def test_keys_that_a_run_did_not_have_do_not_come_back(small_config):
    last = copy.deepcopy(small_config)
    last["experiments"]["line"]["stream"] = "other"
    last["methods"]["fsc"]["embedder"] = {"name": "landmark_svd", "scale_rows": True}
    config, told = whole_config({"line": fragment(small_config, "line")}, last)
    assert told == []
    assert config["methods"]["fsc"] == small_config["methods"]["fsc"]
    assert config["experiments"]["line"] == {**small_config["experiments"]["line"], "overrides": {}}


ODD = [{"seeds": 1}, {"run": 5}, {"images": [1]}, {"experiments": None}, {"images": {"x": 5}}]


@pytest.mark.parametrize("last", [None, *ODD], ids=str)
@pytest.mark.parametrize("whole", [False, True], ids=["alone", "in a whole config"])
def test_without_the_last_config_scores_can_be_repeated_but_not_figures(small_config, last, whole):
    last = {**small_config, **last} if last and whole else last
    config, told = whole_config({"line": fragment(small_config, "line")}, last)
    assert not load(config).experiments["line"].figures
    assert "no figures" in told[0]


@pytest.mark.parametrize("key", ["seed", "methods.fsc"])
def test_runs_that_no_one_config_repeats_are_refused(small_config, key):
    other = copy.deepcopy(small_config)
    if key == "seed":
        other["seed"] = 2
    else:
        other["methods"]["fsc"]["coder"]["lam"] = 11
    fragments = {"grid": fragment(small_config, "grid"), "line": fragment(other, "line")}
    with pytest.raises(InputError, match=f"'grid' and 'line' were run with different {key},"):
        whole_config(fragments, small_config)


def test_a_folder_of_one_machine_is_left_out_where_there_are_other_sources(image_config):
    image_config["images"]["tiny"]["folder"] = "/home/me"
    config, _ = whole_config({"seen": fragment(image_config, "seen")}, image_config)
    assert "folder" not in config["images"]["tiny"]
    image_config["images"]["tiny"]["sources"] = []
    config, _ = whole_config({"seen": fragment(image_config, "seen")}, image_config)
    assert config["images"]["tiny"]["folder"] == "/home/me"


def test_changes_and_other_commits_are_told(tmp_path, results, checkout):
    (checkout / "workflow/new.py").write_text("")
    told = pack(results, tmp_path / "a.tar.gz", checkout)
    assert "not committed" in told[0]
    assert told[1].startswith("made at another commit than")
    files = contents(tmp_path / "a.tar.gz")
    assert "lssc-archive/source/workflow/new.py" in files
    assert "-dirty" in files["lssc-archive/README.md"].decode()
    assert "may give other scores" in files["lssc-archive/README.md"].decode()


def test_no_results_or_no_checkout_is_one_line(tmp_path, results, checkout, monkeypatch, capsys):
    with pytest.raises(InputError, match="run the workflow first"):
        pack(tmp_path / "nothing", tmp_path / "a.tar.gz", checkout)
    with pytest.raises(InputError, match="git"):
        pack(results, tmp_path / "a.tar.gz", results)
    (results / "experiments/grid/provenance.json").unlink()
    with pytest.raises(InputError, match=r"provenance\.json is missing"):
        pack(results, tmp_path / "a.tar.gz", checkout)
    assert not (tmp_path / "a.tar.gz").exists()
    monkeypatch.setattr("sys.argv", ["archiving", "verify", str(tmp_path / "a.tar.gz")])
    with pytest.raises(SystemExit, match="no such file"):
        main()
