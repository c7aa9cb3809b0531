"""The archive: the same bytes for the same results, nothing altered goes unseen, one config that repeats the runs."""

import copy
import io
import json
import subprocess
import tarfile

import pytest
import yaml

from lssc.archiving import compare, main, pack, verify, whole_config
from lssc.errors import InputError
from lssc.recipes import load

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


def test_a_link_is_refused(tmp_path):
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as tar:
        member = tarfile.TarInfo("lssc-archive/link")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(member)
    with pytest.raises(InputError, match="do not unpack"):
        verify(tmp_path / "a.tar.gz")


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


@pytest.mark.parametrize("last", [None, {"seeds": 1}])
def test_without_the_last_config_scores_can_be_repeated_but_not_figures(small_config, last):
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
