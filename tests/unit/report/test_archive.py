"""The archive: equal results give equal bytes, damage is noticed, one config repeats all runs."""

import copy
import io
import json
import subprocess
import tarfile

import pytest
import yaml

from lssc.errors import DamagedArtifact, InputError
from lssc.pipeline.store.files import write_text
from lssc.pipeline.study import recipes
from lssc.pipeline.study.load import load
from lssc.report.archive import compare, joined_config, main, pack, unpack, verify

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
    return json.loads(recipes.fragment(load(config), experiment))


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


def test_archive_holds_results_config_source_and_checksums(archive):
    names = {name.removeprefix("lssc-archive/") for name in contents(archive)}
    made = ("scores.csv", "provenance.json", "figures/fig.png")
    inside = {f"results/experiments/{id}/{name}" for id in ("grid", "line") for name in made}
    source = {"source/Makefile", "source/workflow/part.py", "source/run"}
    assert names == {"README.md", "config.yaml", "SHA256SUMS", "results/report.html", *inside, *source}


def test_same_results_give_same_bytes(tmp_path, small_config, checkout, archive):
    again = fill(tmp_path / "elsewhere/results", small_config)
    (again / "experiments/grid/scores.csv").touch()
    pack(again, tmp_path / "b.tar.gz", checkout)
    assert (tmp_path / "b.tar.gz").read_bytes() == archive.read_bytes()
    # gzip's own time stamp.
    assert archive.read_bytes()[4:8] == bytes(4)


def test_tar_and_sha256sum_can_unpack_and_verify(tmp_path, archive):
    subprocess.run(["tar", "-xzf", archive, "-C", tmp_path], check=True)
    folder = tmp_path / "lssc-archive"
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=folder, check=True, capture_output=True)
    assert (folder / "source/run").stat().st_mode & 0o111
    n_files = sum(path.is_file() for path in folder.rglob("*"))
    assert verify(archive) == n_files - 1


SCORES = "lssc-archive/results/experiments/grid/scores.csv"
CHANGES = {
    "altered": lambda files: files.update({SCORES: files[SCORES].replace(b"0.9", b"1.0")}),
    "missing": lambda files: files.pop(SCORES),
    "added": lambda files: files.update({f"{SCORES}.more": b""}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_names_a_file_that_was_altered_removed_or_added(archive, change):
    with pytest.raises(InputError, match=r"^\S+: 'results/experiments/grid/scores\.csv\S* does not match its checksum"):
        verify(rewritten(archive, CHANGES[change]))


def flipped(content, place):
    content = bytearray(content)
    content[int(place * len(content))] ^= 0x10
    return bytes(content)


@pytest.mark.parametrize("place", [0, 0.01, 0.2, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("damage", [flipped, lambda content, place: content[: int(place * len(content))]])
def test_refuses_damaged_archive(tmp_path, archive, damage, place):
    archive.write_bytes(damage(archive.read_bytes(), place))
    with pytest.raises(InputError, match=r"^\S+a\.tar\.gz: .+$"):
        unpack(archive, tmp_path / "out")
    assert not (tmp_path / "out").exists()


OUTSIDE = [{"name": name} for name in ("../evil", "/etc/evil", "lssc-archive/../../evil", "other/file", "lssc-archive")]
LINKS = [{"type": type, "linkname": "/etc/passwd"} for type in (tarfile.SYMTYPE, tarfile.LNKTYPE)]
DEVICES = [{"type": type} for type in (tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE)]


@pytest.mark.parametrize("attributes", [*OUTSIDE, *LINKS, *DEVICES], ids=str)
def test_refuses_all_but_plain_files_inside_the_folder(tmp_path, attributes):
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as tar:
        member = tarfile.TarInfo("lssc-archive/file")
        for key, value in attributes.items():
            setattr(member, key, value)
        tar.addfile(member)
    with pytest.raises(InputError, match="do not unpack"):
        unpack(tmp_path / "a.tar.gz", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["a.tar.gz"]


def test_refuses_archive_without_checksums(archive):
    with pytest.raises(InputError, match="SHA256SUMS is missing"):
        verify(rewritten(archive, lambda files: files.pop("lssc-archive/SHA256SUMS")))


def test_unpacks_what_was_packed(archive, tmp_path):
    unpack(archive, tmp_path / "new/out")
    files = {path.relative_to(tmp_path / "new/out").as_posix(): path for path in (tmp_path / "new/out").rglob("*")}
    packed = {name.removeprefix("lssc-archive/"): content for name, content in contents(archive).items()}
    assert {name: path.read_bytes() for name, path in files.items() if path.is_file()} == packed
    assert [files[f"source/{name}"].stat().st_mode & 0o777 for name in ("run", "Makefile")] == [0o755, 0o644]
    # A second call keeps what a repeat has made there since.
    (tmp_path / "new/out/made").write_text("by a repeat")
    unpack(archive, tmp_path / "new/out")
    assert (tmp_path / "new/out/made").exists()
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["out"]


@pytest.mark.parametrize("sums", [None, "0123  thesis.txt\n"], ids=["no checksums", "checksums of something else"])
def test_unpack_never_replaces_a_folder(archive, tmp_path, sums):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("years of work")
    if sums:
        (tmp_path / "mine/SHA256SUMS").write_text(sums)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match=r"mine: holds another archive or something else; name another folder or"):
        unpack(archive, tmp_path / "mine")
    assert sorted(tmp_path.rglob("*")) == before


def test_refuses_to_pack_altered_results(tmp_path, results, checkout):
    table = results / "experiments/grid/scores.csv"
    write_text(table, table.read_text())
    pack(results, tmp_path / "a.tar.gz", checkout)
    table.write_text(table.read_text().replace("0.9", "0.99", 1))
    with pytest.raises(DamagedArtifact, match=rf"^{table}: does not match its checksum"):
        pack(results, tmp_path / "b.tar.gz", checkout)


@pytest.mark.parametrize(
    "text", ["[]", "{}", "{", '{"commit": "a", "config": {"seed": "x"}}', '{"commit": "a", "config": 1}']
)
def test_reports_unusable_provenance_in_one_line(tmp_path, results, checkout, text):
    (results / "experiments/grid/provenance.json").write_text(text)
    with pytest.raises(InputError, match=r"^.+$"):
        pack(results, tmp_path / "a.tar.gz", checkout)
    assert not (tmp_path / "a.tar.gz").exists()


def test_refuses_provenance_of_another_experiment(tmp_path, results, checkout):
    (results / "experiments/line").rename(results / "experiments/other")
    with pytest.raises(InputError, match=r"cannot run what made these results: 'other'"):
        pack(results, tmp_path / "a.tar.gz", checkout)


def test_reports_broken_table_in_one_line(tmp_path, results, small_config):
    other = fill(tmp_path / "other", small_config)
    (other / "experiments/grid/scores.csv").write_bytes(b"\xff\0" * 10)
    with pytest.raises(InputError, match=r"scores\.csv: not a score table"):
        compare(results, other)


def test_compares_accuracy_but_not_time_and_memory(tmp_path, results, small_config):
    slower = fill(tmp_path / "slower", small_config, seconds=7)
    assert compare(results, slower) == (4, [])
    worse = fill(tmp_path / "worse", small_config, accuracy=0.8)
    n_rows, differences = compare(results, worse)
    assert (n_rows, len(differences)) == (4, 4)
    assert differences[0] == "grid: row 1 (method fsc, n 30, m 6, trial 0): accuracy 0.9 -> 0.8"


def test_reports_missing_tables_rows_and_columns(tmp_path, results, small_config):
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


def test_packed_config_runs_what_was_run(archive, small_config):
    config = yaml.safe_load(contents(archive)["lssc-archive/config.yaml"])
    study = load(config)
    assert study.run == ("grid", "line")
    assert study.results == "results"
    assert [id for id in study.run if study.experiments[id].figures] == ["line"]
    for id in study.run:
        packed, expected = fragment(config, id), fragment(small_config, id)
        assert {**packed, "results": ""} == {**expected, "results": ""}


def test_joined_config_takes_from_the_last_run_only_what_is_drawn(small_config):
    last = copy.deepcopy(small_config)
    last["experiments"]["line"]["stream"] = "other"
    last["methods"]["fsc"]["embedder"] = {"name": "landmark_svd", "scale_rows": True}
    last["methods"]["shown"] = last["methods"]["omp"]
    last["experiments"]["line"]["figures"]["fig"]["methods"].append("shown")
    config = joined_config({"line": fragment(small_config, "line")}, last)
    assert config["methods"]["fsc"] == small_config["methods"]["fsc"]
    figures = last["experiments"]["line"]["figures"]
    assert config["experiments"]["line"] == {**small_config["experiments"]["line"], "overrides": {}, "figures": figures}
    assert load(config).run == ("line",)


def test_without_the_last_config_scores_can_be_repeated_but_not_figures(small_config):
    config = joined_config({"line": fragment(small_config, "line")}, {})
    assert not load(config).experiments["line"].figures


@pytest.mark.parametrize("key", ["seed", "methods.fsc"])
def test_refuses_runs_that_no_one_config_repeats(small_config, key):
    other = copy.deepcopy(small_config)
    if key == "seed":
        other["seed"] = 2
    else:
        other["methods"]["fsc"]["coder"]["lam"] = 11
    fragments = {"grid": fragment(small_config, "grid"), "line": fragment(other, "line")}
    with pytest.raises(InputError, match=f"experiment 'line': {key} differs from that of an experiment before it"):
        joined_config(fragments, small_config)


def test_packs_own_claims(tmp_path, results, checkout, small_config, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text("claims")
    (results / "config.json").write_text(json.dumps({**small_config, "claims": "mine.yaml"}))
    pack(results, tmp_path / "a.tar.gz", checkout)
    files = contents(tmp_path / "a.tar.gz")
    assert yaml.safe_load(files["lssc-archive/config.yaml"])["claims"] == "own_claims.yaml"
    assert files["lssc-archive/source/own_claims.yaml"] == b"claims"


@pytest.mark.parametrize(
    ("section", "id", "experiment"), [("images", "tiny", "seen"), ("tables", "tiny_table", "tabled")]
)
def test_leaves_out_the_folder_of_images_or_a_table_where_there_are_sources(image_config, section, id, experiment):
    image_config[section][id]["folder"] = "/home/me"
    config = joined_config({experiment: fragment(image_config, experiment)}, image_config)
    assert "folder" not in config[section][id]
    image_config[section][id]["sources"] = []
    config = joined_config({experiment: fragment(image_config, experiment)}, image_config)
    assert config[section][id]["folder"] == "/home/me"


def test_reports_uncommitted_changes_and_other_commits(tmp_path, results, checkout):
    (checkout / "workflow/new.py").write_text("")
    (checkout / "Makefile").write_text("changed")
    messages = pack(results, tmp_path / "a.tar.gz", checkout)
    assert "uncommitted" in messages[0]
    assert messages[1].startswith("made at another commit than")
    files = contents(tmp_path / "a.tar.gz")
    assert "lssc-archive/source/workflow/new.py" in files
    assert "-dirty" in files["lssc-archive/README.md"].decode()
    assert "| grid | 2 | 0123456789ab |" in files["lssc-archive/README.md"].decode()


def test_reports_missing_results_checkout_and_archive_in_one_line(tmp_path, results, checkout, monkeypatch):
    with pytest.raises(InputError, match="run the workflow first"):
        pack(tmp_path / "nothing", tmp_path / "a.tar.gz", checkout)
    with pytest.raises(InputError, match="not a git checkout"):
        pack(results, tmp_path / "a.tar.gz", results)
    (results / "experiments/grid/provenance.json").unlink()
    with pytest.raises(InputError, match=r"provenance\.json: missing"):
        pack(results, tmp_path / "a.tar.gz", checkout)
    assert not (tmp_path / "a.tar.gz").exists()
    monkeypatch.setattr("sys.argv", ["archive", "verify", str(tmp_path / "a.tar.gz")])
    with pytest.raises(SystemExit, match="no such file"):
        main()
