"""Pack results with their config and source into one file that others can verify, unpack and run again.

python -m lssc.report.archive pack --results results --out FILE.tar.gz
python -m lssc.report.archive verify FILE.tar.gz
python -m lssc.report.archive unpack FILE.tar.gz FOLDER
python -m lssc.report.archive compare ARCHIVED_RESULTS REPEATED_RESULTS
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from lssc.data.downloads import ARCHIVE_ERRORS
from lssc.errors import ConfigError, DamagedArtifact, InputError
from lssc.pipeline.store.files import read_bytes, read_text, replacing
from lssc.pipeline.study.load import load
from lssc.pipeline.study.paths import LAST_CONFIG
from lssc.report.provenance import commit

Config = dict[str, Any]

CHECKOUT = Path(__file__).resolve().parents[3]
TOP = "lssc-archive"
SUMS = "SHA256SUMS"
# Files of a results folder that cover all of its experiments.
SHARED_RESULTS = ("claims.csv", "claims.json", "report.html")
NOT_RESULTS = (".log", ".h5", ".damaged", ".tmp")
# Results of other runs, kept in the documents.
NOT_SOURCE = ("docs/figures/", "docs/results/")

SECTIONS = ("images", "tables", "datasets", "methods", "experiments")
# What to run, where files lie and how trials share jobs: two runs may differ in these and give the same scores.
NO_SCORE_DEPENDS_ON = ("run", "results", "data", "block", "claims")

README = """\
# Results of lssc, with config and source

| | |
|---|---|
| `results/` | score tables, their provenance (software, machine, config), figures |
| `config.yaml` | one config that runs all of these experiments |
| `source/` | the checkout at commit {commit}, with its lock in `envs/`, without the results in its documents |
| `{sums}` | the checksum of every other file |

| experiment | rows | made at commit |
|---|---|---|
{table}

A table made at another commit than the source may come out differently, if code that it depends on has changed since.

## Verify

    sha256sum --check --quiet {sums}

## Repeat

    make -C source repeat

runs the code in `source/`. Checksums show damage, not the author: repeat only archives from people you trust. It needs
python3.11, pip and make, installs the lock into `source/.venv`, runs `config.yaml` into `source/results` and compares
the score tables, except times and memory, with those in `results/`. After an interruption the same command continues.
Another kind of processor may round differently, which can move single points between clusters.
"""


def pack(results: Path, out: Path, checkout: Path = CHECKOUT) -> list[str]:
    """Write the archive of a results folder and return messages for the user.

    The same results, checkout and Python give the same bytes.
    """
    provenances = _provenances(results)
    config = _joined_config(results, provenances)
    claims = _own_claims(config)
    label = commit(checkout)
    if label is None:
        raise InputError(f"{checkout}: not a git checkout, or git is not installed; the archive holds what git tracks")
    source = _source_files(checkout)
    files = {f"results/{path.relative_to(results)}": read_bytes(path) for path in _result_files(results, provenances)}
    files |= {f"source/{name}": path.read_bytes() for name, path in {**source, **claims}.items()}
    files["config.yaml"] = yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=120).encode()
    files["README.md"] = _readme(results, provenances, label).encode()
    executable = {f"source/{name}" for name, path in source.items() if os.access(path, os.X_OK)}
    _write(out, files, executable, int(_git(checkout, "show", "-s", "--format=%ct", "HEAD")))
    content = out.read_bytes()
    size, digest = f"{len(content) / 1e6:.1f} MB", hashlib.sha256(content).hexdigest()
    summary = f"{out}: {', '.join(provenances)}; {len(files)} files, {size}, sha256 {digest}"
    return [*_warnings(provenances, label), summary]


def _readme(results: Path, provenances: Mapping[str, Any], label: str) -> str:
    n_rows = {id: len(_scores(results / f"experiments/{id}/scores.csv")) for id in provenances}
    table = "\n".join(f"| {id} | {n_rows[id]:,} | {entry.get('commit')} |" for id, entry in provenances.items())
    return README.format(commit=label, sums=SUMS, table=table)


def _warnings(provenances: Mapping[str, Any], label: str) -> Iterator[str]:
    if label.endswith("-dirty"):
        yield f"the checkout has uncommitted changes; the archive includes them, as {label}"
    if others := [id for id, entry in provenances.items() if entry.get("commit") != label]:
        yield f"made at another commit than {label}: {', '.join(others)}; the archive's README says so"


def verify(path: Path) -> int:
    """The number of files in an archive; InputError unless each one is as it was packed."""
    return len(_verified(path)) - 1


def unpack(path: Path, into: Path) -> None:
    """Verify an archive and write its files into a new folder; one that already holds this archive is left as it is."""
    files = _verified(path)
    if (into / SUMS).is_file() and (into / SUMS).read_bytes() == files[SUMS][0]:
        return
    if into.exists():
        raise InputError(f"{into}: holds another archive or something else; name another folder or remove it first")
    into.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=into.parent) as temporary:
        for name, (content, mode) in files.items():
            place = Path(temporary, TOP, name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
            place.chmod(0o755 if mode & 0o100 else 0o644)
        Path(temporary, TOP).replace(into)


def compare(archived: Path, repeated: Path) -> tuple[int, list[str]]:
    """The number of rows in the archived score tables, and how the repeated ones differ, except in time and memory."""
    before, after = (
        {path.parent.name: path for path in side.glob("experiments/*/scores.csv")} for side in (archived, repeated)
    )
    if not before:
        raise InputError(f"{archived}: no experiments/*/scores.csv there")
    n_rows, differences = 0, []
    for id in sorted({*before, *after}):
        if id not in before or id not in after:
            differences.append(f"{id}: no score table in {archived if id not in before else repeated}")
            continue
        old, new = _scores(before[id]), _scores(after[id])
        n_rows += len(old)
        differences += [f"{id}: {difference}" for difference in _differences(old, new)]
    return n_rows, differences


def _joined_config(results: Path, provenances: Mapping[str, Any]) -> Config:
    last = results / LAST_CONFIG
    try:
        fragments = {id: entry["config"] for id, entry in provenances.items()}
        config = joined_config(fragments, _json(last) if last.exists() else {})
        load(config)
    except (AttributeError, ConfigError, KeyError, TypeError) as error:
        raise InputError(f"{results}: this version cannot run what made these results: {error}") from None
    return config


def joined_config(fragments: Mapping[str, Config], last: Config) -> Config:
    """One config that runs all experiments as they were run, from the part of the config that each depends on.

    No score depends on figures, pictures and claims of one's own, so only the last run's config has them.
    """
    config: Config = {section: {} for section in SECTIONS if any(section in f for f in fragments.values())}
    for id, fragment in fragments.items():
        for key, value in fragment.items():
            if key in SECTIONS:
                for name, entry in value.items():
                    _add(config[key], name, entry, f"{id!r}: {key}.{name}")
            elif key not in NO_SCORE_DEPENDS_ON:
                _add(config, key, value, f"{id!r}: {key}")
        drawn = last.get("experiments", {}).get(id, {})
        figures = {key: drawn[key] for key in ("figures", "pictures") if key in drawn}
        config["experiments"][id] = {**fragment["experiments"][id], **figures}
    # Figures may name methods that no experiment runs.
    config["methods"] = {**last.get("methods", {}), **config["methods"]}
    # Folders belong to one machine; the sources have the same images and tables.
    for section in ("images", "tables"):
        for id, entry in config.get(section, {}).items():
            config[section][id] = {k: v for k, v in entry.items() if k != "folder" or not entry["sources"]}
    claims = {key: last[key] for key in ("claims",) if key in last}
    config |= {"run": list(fragments), "results": "results", "data": "data"}
    return {"block": fragment["block"], **config, **claims}


def _own_claims(config: Config) -> dict[str, Path]:
    """The file of one's own claims, which the archive keeps at the top of its source."""
    if "claims" not in config:
        return {}
    path, config["claims"] = Path(config["claims"]), "own_claims.yaml"
    return {"own_claims.yaml": path}


def _add(table: Config, key: str, value: Any, where: str) -> None:
    if table.setdefault(key, value) != value:
        raise InputError(
            f"experiment {where} differs from that of an experiment before it, so no one config repeats both;"
            " run them again, or keep them in results folders of their own"
        )


def _provenances(results: Path) -> dict[str, Any]:
    """Experiment -> its provenance, for all that have scores."""
    folders = sorted(path.parent for path in results.glob("experiments/*/scores.csv"))
    if not folders:
        raise InputError(f"{results}: no experiments/*/scores.csv there; run the workflow first, as by `make paper`")
    return {folder.name: _json(folder / "provenance.json") for folder in folders}


def _json(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(read_text(path)))
    except FileNotFoundError:
        raise InputError(f"{path}: missing; run the workflow again") from None
    except (DamagedArtifact, ValueError, TypeError) as error:
        raise InputError(f"{path}: damaged ({error}); delete it and run the workflow again") from None


def _result_files(results: Path, experiments: Mapping[str, Any]) -> list[Path]:
    paths = [path for id in experiments for path in results.glob(f"experiments/{id}/**/*")]
    paths += [results / name for name in SHARED_RESULTS]
    return [p for p in paths if p.is_file() and p.suffix not in NOT_RESULTS and not p.name.startswith(".")]


def _source_files(checkout: Path) -> dict[str, Path]:
    """All tracked files, and parts of the library that git does not know yet: the run used these, too."""
    tracked = _git(checkout, "ls-files", "-z").split("\0")
    new = _git(checkout, "ls-files", "-z", "--others", "--exclude-standard", "workflow").split("\0")
    paths = {name: checkout / name for name in (*tracked, *new) if not name.startswith(NOT_SOURCE)}
    return {name: path for name, path in paths.items() if path.is_file()}


def _git(checkout: Path, *command: str) -> str:
    return subprocess.run(["git", "-C", str(checkout), *command], capture_output=True, text=True, check=True).stdout


def _write(out: Path, files: Mapping[str, bytes], executable: set[str], time: int) -> None:
    """Write nothing but names, contents, the right to execute and the time of the commit, so that bytes are equal."""
    sums = "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files))
    with (
        replacing(out) as temporary,
        temporary.open("wb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.GNU_FORMAT) as tar,
    ):
        for name, content in [*sorted(files.items()), (SUMS, sums.encode())]:
            member = tarfile.TarInfo(f"{TOP}/{name}")
            member.size, member.mtime, member.mode = len(content), time, 0o755 if name in executable else 0o644
            tar.addfile(member, io.BytesIO(content))


def _verified(path: Path) -> dict[str, tuple[bytes, int]]:
    """Name -> content and mode of every file of an archive, compared with the checksums in it."""
    files = _read(path)
    if SUMS not in files:
        raise InputError(f"{path}: {SUMS} is missing: not an archive of this project")
    lines = files[SUMS][0].decode(errors="replace").splitlines()
    expected = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    actual = {name: hashlib.sha256(content).hexdigest() for name, (content, _) in files.items() if name != SUMS}
    wrong = [name for name in sorted({*expected, *actual}) if expected.get(name) != actual.get(name)]
    if wrong:
        more = f", and {len(wrong) - 1} more files" if wrong[1:] else ""
        raise InputError(f"{path}: {wrong[0]!r} does not match its checksum, was removed or was added{more}")
    return files


def _read(path: Path) -> dict[str, tuple[bytes, int]]:
    files = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(path.read_bytes())), mode="r:") as tar:
            for member in tar:
                name = PurePosixPath(member.name)
                if not member.isreg() or name.parts[:1] != (TOP,) or ".." in name.parts or name == PurePosixPath(TOP):
                    raise InputError(f"{path}: {member.name!r} is not a plain file inside {TOP}/; do not unpack it")
                files[name.relative_to(TOP).as_posix()] = tar.extractfile(member).read(), member.mode
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except ARCHIVE_ERRORS as error:
        raise InputError(f"{path}: cut short, damaged or not an archive ({error})") from None
    return files


def _scores(path: Path) -> list[dict[str, str]]:
    """The rows of a score table without times and memory, which differ in every run."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except (csv.Error, ValueError) as error:
        raise InputError(f"{path}: not a score table ({error})") from None
    return [{k: v for k, v in row.items() if not str(k).endswith(("seconds", "peak_mb"))} for row in rows]


def _differences(before: list[dict[str, str]], after: list[dict[str, str]]) -> Iterator[str]:
    if len(before) != len(after):
        yield f"{len(before)} rows in the archive, {len(after)} in the repeat"
    for number, (old, new) in enumerate(zip(before, after, strict=False), start=1):
        changed = [f"{key} {old.get(key)} -> {new.get(key)}" for key in {**old, **new} if old.get(key) != new.get(key)]
        if changed:
            run = ", ".join(f"{key} {old[key]}" for key in ("method", "n", "m", "trial", "setting") if key in old)
            yield f"row {number} ({run}): {', '.join(changed)}"


def _run(args: argparse.Namespace) -> None:
    if args.command == "pack":
        print("\n".join(pack(args.results, args.out)))
    elif args.command == "verify":
        print(f"{args.archive}: all {verify(args.archive)} files are as they were packed")
    elif args.command == "unpack":
        unpack(args.archive, args.into)
        print(f"{args.archive}: every file is as it was packed, and now in {args.into}")
    else:
        n_rows, differences = compare(args.archived, args.repeated)
        if differences:
            sys.exit("\n".join([*differences, f"the repeat differs from the archive ({len(differences)} differences)"]))
        print(f"the repeat gives the same scores ({n_rows} rows)")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("pack", help="write an archive of a results folder")
    command.add_argument("--results", type=Path, required=True)
    command.add_argument("--out", type=Path, required=True)
    command = commands.add_parser("verify", help="compare every file of an archive with its checksum")
    command.add_argument("archive", type=Path)
    command = commands.add_parser("unpack", help="verify an archive, then write its files into a folder")
    command.add_argument("archive", type=Path)
    command.add_argument("into", type=Path)
    command = commands.add_parser("compare", help="compare the score tables of two results folders")
    command.add_argument("archived", type=Path)
    command.add_argument("repeated", type=Path)
    try:
        _run(parser.parse_args())
    except (DamagedArtifact, InputError, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
