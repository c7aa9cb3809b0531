"""Pack results and what made them into one file, which others can verify and repeat the run from.

python -m lssc.report.archive pack --results results --out FILE.tar.gz
python -m lssc.report.archive verify FILE.tar.gz
python -m lssc.report.archive unpack FILE.tar.gz FOLDER
python -m lssc.report.archive compare ARCHIVED_RESULTS REPEATED_RESULTS
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import gzip
import hashlib
import io
import itertools
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

import yaml

from lssc.data.downloads import DAMAGE
from lssc.errors import InputError
from lssc.pipeline.store.files import is_altered, is_seal, replacing, seal_of, sha256
from lssc.pipeline.study.recipes import ConfigError, load
from lssc.report.provenance import commit

Config = dict[str, Any]

CHECKOUT = Path(__file__).resolve().parents[3]
TOP = "lssc-archive"
SUMS = "SHA256SUMS"
# Bytes of an archive when unpacked; tables, figures and source are a hundredth of it.
LARGEST = 2**30
# What lies beside the experiments of a results folder and tells of all of them.
BESIDE = ("claims.csv", "claims.json", "report.html")
# The whole config of the last run, kept when a run starts.
LAST_CONFIG = "config.json"
NOT_RESULTS = (".log", ".h5", ".damaged", ".tmp")
# Results of other runs than the one that is packed.
NOT_SOURCE = ("docs/figures/", "docs/results/")

SECTIONS = ("images", "datasets", "methods", "experiments")
# What to run, where files lie and how trials are put into jobs: no score depends on it.
FREE = ("run", "results", "data", "block")

README = """\
# Results of lssc, with what made them

| | |
|---|---|
| `results/` | score tables, their provenance (software, machine, config), figures |
| `config.yaml` | the config of all of them, whole |
| `source/` | the checkout at commit {commit}, without the results in its documents; its lock is in `envs/` |
| `{sums}` | the checksum of every other file |

| experiment | rows | made at commit |
|---|---|---|
{table}
{note}
## Verify

    sha256sum --check --quiet {sums}

## Repeat

    make -C source repeat

runs the code in `source/`, so trust whoever gave you this file: checksums tell damage, not who made it. It needs
python3.11, pip and make, installs the lock into `source/.venv`, runs `config.yaml` into `source/results` and compares
the score tables, all but times and memory, with those in `results/`. Interrupted, the same command goes on where it
was. Another kind of processor may round differently, which can move single points between clusters.
"""
NOTE = """
Not every table was made at the commit of the source. A stage whose code did not change is not run again, so this need
not mean anything; if it did change, a repeat may give other scores.
"""


@dataclass(frozen=True)
class Source:
    """The files of a checkout, by name, its commit (marked if it has changes) and the time of that commit."""

    files: Mapping[str, Path]
    commit: str
    time: int

    @classmethod
    def of(cls, checkout: Path) -> Source:
        tracked = _git(checkout, "ls-files", "-z").split("\0")
        # A part that was just written may not be known to git; the run used it all the same.
        new = _git(checkout, "ls-files", "-z", "--others", "--exclude-standard", "workflow").split("\0")
        label = commit(checkout)
        if label is None:
            raise InputError(f"{checkout} is not a git checkout, and the archive holds the files that git knows of")
        if any(new) and not label.endswith("-dirty"):
            label += "-dirty"
        wanted = {name: checkout / name for name in (*tracked, *new) if name and not name.startswith(NOT_SOURCE)}
        files = {name: path for name, path in wanted.items() if path.is_file()}
        return cls(files, label, int(_git(checkout, "show", "-s", "--format=%ct", "HEAD")))


def pack(results: Path, out: Path, checkout: Path = CHECKOUT) -> list[str]:
    """Write the archive of a results folder. The same results, checkout and Python give the same bytes.

    Gives what there is to tell about it.
    """
    made = _provenances(results)
    config, told = whole_config({id: entry["config"] for id, entry in made.items()}, _last_config(results))
    source = Source.of(checkout)
    if source.commit.endswith("-dirty"):
        told.append(f"the checkout has changes that are not committed; the archive holds them, as {source.commit}")
    if others := [id for id, entry in made.items() if entry["commit"] != source.commit]:
        told.append(f"made at another commit than {source.commit}: {', '.join(others)}; the archive's README says so")
    files = {f"results/{name}": path.read_bytes() for name, path in _result_files(results, made).items()}
    files |= {f"source/{name}": path.read_bytes() for name, path in source.files.items()}
    files["config.yaml"] = yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=120).encode()
    files["README.md"] = _readme(results, made, source, with_note=bool(others)).encode()
    if (size := sum(map(len, files.values()))) > LARGEST // 2:
        raise InputError(f"{results}: {size:,} bytes of files; an archive holds {LARGEST // 2:,} at most")
    programs = {f"source/{name}" for name, path in source.files.items() if os.access(path, os.X_OK)}
    _write(out, files, programs, source.time)
    packed, digest = out.stat().st_size, hashlib.sha256(out.read_bytes()).hexdigest()
    return [*told, f"{out}: {', '.join(made)}; {len(files)} files, {packed / 1e6:.1f} MB, sha256 {digest}"]


def verify(path: Path) -> int:
    """The number of files in an archive; InputError with a line for each that is not as it was packed."""
    return len(_verified(path)[0])


def unpack(path: Path, into: Path) -> None:
    """Write the files of an archive into a folder, once all are verified; one that it was unpacked into is left as is.

    Not by `tar`, which may read an archive in another way than what verified it.
    """
    found, sums = _verified(path)
    if (into / SUMS).is_file() and (into / SUMS).read_bytes() == sums:
        return
    if into.exists():
        raise InputError(f"{into}: holds another archive or something else; name another folder or remove it first")
    begun = into.with_name(f".{into.name}.tmp")
    shutil.rmtree(begun, ignore_errors=True)
    try:
        _write_out(path, {**found, SUMS: hashlib.sha256(sums).hexdigest()}, begun)
        begun.replace(into)
    finally:
        shutil.rmtree(begun, ignore_errors=True)


def _write_out(path: Path, expected: Mapping[str, str], folder: Path) -> None:
    for name, member, content in _members(path):
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("xb") as file:
            shutil.copyfileobj(content, file)
        if sha256(place) != expected.get(name):
            raise InputError(f"{path}: {name} was changed while it was unpacked")
        place.chmod(0o755 if member.mode & 0o100 else 0o644)
        # Python and numba tell changed code by its time, which need be no number that a file can have.
        os.utime(place, (time := int(member.mtime) if 0 <= member.mtime <= 2**32 else 0, time))


def _verified(path: Path) -> tuple[dict[str, str], bytes]:
    found, sums = _read(path)
    listed = _listed(path, sums)
    problems = [f"{name}: in {SUMS}, but not in the archive" for name in listed if name not in found]
    for name, digest in found.items():
        if name not in listed:
            problems.append(f"{name}: in the archive, but not in {SUMS}")
        elif listed[name] != digest:
            problems.append(f"{name}: does not match its checksum")
    if problems:
        raise InputError("\n".join(f"{path}: {problem}" for problem in problems))
    return found, sums


def compare(archived: Path, repeated: Path) -> tuple[int, list[str]]:
    """The number of rows in the score tables of two results folders, and their differences but for time and memory."""
    sides = (archived, repeated)
    tables = [{path.parent.name: path for path in side.glob("experiments/*/scores.csv")} for side in sides]
    if not tables[0]:
        raise InputError(f"{archived}: no experiments/*/scores.csv there")
    n_rows, differences = 0, []
    for id in sorted({*tables[0], *tables[1]}):
        missing = [str(side) for side, table in zip(sides, tables, strict=True) if id not in table]
        if missing:
            differences.append(f"{id}: no score table in {missing[0]}")
            continue
        before, after = (_scores(table[id]) for table in tables)
        n_rows += len(before)
        differences += [f"{id}: {difference}" for difference in _differences(before, after)]
    return n_rows, differences


def whole_config(fragments: Mapping[str, Config], last: Config | None) -> tuple[Config, list[str]]:
    """One config that runs all experiments as they were run, from the part of each and the last run's config.

    Figures and pictures, on which no score depends, are only known to the last. Also gives what there is to tell.
    """
    entries = _agreed(fragments)
    if last:
        with contextlib.suppress(ConfigError):
            load(last)
            return _checked(_laid_over(last, fragments, entries)), []
    told = f"no {LAST_CONFIG} fits these results: a repeat gives their score tables, but no figures"
    try:
        return _checked(_laid_over({}, fragments, entries)), [told]
    except ConfigError as error:
        raise InputError(f"this version cannot run what made these results: {error}") from None


def _checked(config: Config) -> Config:
    load(config)
    return config


def _agreed(fragments: Mapping[str, Config]) -> dict[tuple[str, ...], Any]:
    """(section, id) or (key,) -> value, over the configs of all experiments; InputError where two differ."""
    found: dict[tuple[str, ...], Any] = {}
    first: dict[tuple[str, ...], str] = {}
    for id, fragment in fragments.items():
        inside = {(section, name): value for section in SECTIONS for name, value in fragment[section].items()}
        above = {(key,): value for key, value in fragment.items() if key not in (*SECTIONS, *FREE)}
        for key, value in {**above, **inside}.items():
            if found.setdefault(key, value) != value:
                raise InputError(
                    f"experiments {first[key]!r} and {id!r} were run with different {'.'.join(key)}, so no one config"
                    " repeats both; run them again, or keep them in results folders of their own"
                )
            first.setdefault(key, id)
    return found


def _laid_over(base: Config, fragments: Mapping[str, Config], entries: Mapping[tuple[str, ...], Any]) -> Config:
    """Whole entries replace those of the base: merged key by key, what a run did not have would come back."""
    block = next(iter(fragments.values()))["block"]
    order = [id for id in base.get("run", ()) if id in fragments]
    run = list(dict.fromkeys([*order, *fragments]))
    config = {"block": block, **base, "run": run, "results": "results", "data": "data"}
    config |= {section: dict(base.get(section, {})) for section in SECTIONS}
    for (section, *name), value in entries.items():
        if name:
            config[section][name[0]] = value
        else:
            config[section] = value
    shown = {id: _shown(base, id) for id in fragments}
    config["experiments"] |= {id: {**config["experiments"][id], **shown[id]} for id in fragments}
    # A folder of one machine; the checksums say what must be in it, and the sources who else has that.
    for id, entry in config["images"].items():
        config["images"][id] = {k: v for k, v in entry.items() if k != "folder" or not entry["sources"]}
    return config


def _shown(base: Config, experiment: str) -> Config:
    """What an experiment's entry says beyond that which its scores depend on."""
    if experiment not in base.get("experiments", {}):
        return {}
    scored = json.loads(load(base).fragment(experiment))["experiments"][experiment]
    return {key: value for key, value in base["experiments"][experiment].items() if key not in scored}


def _provenances(results: Path) -> dict[str, Any]:
    """Experiment -> what made its scores, for all that have some."""
    folders = sorted(path.parent for path in results.glob("experiments/*/scores.csv"))
    if not folders:
        raise InputError(f"{results}: no experiments/*/scores.csv there; run the workflow first, as by `make paper`")
    made = {folder.name: _json(folder / "provenance.json") for folder in folders}
    for id, entry in made.items():
        unsaid = InputError(f"{results}/experiments/{id}/provenance.json does not say what made the scores")
        if not isinstance(entry.get("config"), dict) or not isinstance(entry.get("commit", 0), str | None):
            raise unsaid
        try:
            if id not in load({**entry["config"], "results": "results", "data": "data"}).experiments:
                raise unsaid
        except ConfigError as error:
            raise InputError(f"this version cannot run what made {id}: {error}") from None
    return made


def _last_config(results: Path) -> Config | None:
    path = results / LAST_CONFIG
    return _json(path) if path.exists() else None


def _json(path: Path) -> Any:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(found, dict):
            raise ValueError("no mapping")
        return found
    except FileNotFoundError:
        raise InputError(f"{path} is missing; delete the folder and run the workflow again") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is damaged ({error}); delete it and run the workflow again") from None


def _result_files(results: Path, experiments: Mapping[str, Any]) -> dict[str, Path]:
    inside = (path for id in experiments for path in results.glob(f"experiments/{id}/**/*"))
    wanted = itertools.chain(inside, (results / name for name in BESIDE))
    files = (path for path in wanted if path.is_file() and not path.is_symlink())
    kept = [path for path in files if path.suffix not in NOT_RESULTS and not path.name.startswith(".")]
    for path in kept:
        if is_seal(seal_of(path)) and is_altered(path, seal_of(path)):
            raise InputError(f"{path}: not as it was written; run the workflow again, which makes it anew")
    return {path.relative_to(results).as_posix(): path for path in kept}


def _readme(results: Path, made: Mapping[str, Any], source: Source, *, with_note: bool) -> str:
    rows = {id: len(_scores(results / f"experiments/{id}/scores.csv")) for id in made}
    table = "\n".join(f"| {id} | {rows[id]:,} | {entry['commit']} |" for id, entry in made.items())
    return README.format(commit=source.commit, sums=SUMS, table=table, note=NOTE if with_note else "")


def _git(checkout: Path, *command: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(checkout), *command], capture_output=True, text=True)
    except FileNotFoundError:
        raise InputError("the program 'git' is not installed") from None
    if done.returncode:
        raise InputError(f"{checkout}: git says {done.stderr.strip().splitlines()[-1]!r}")
    return done.stdout


def _write(out: Path, files: Mapping[str, bytes], programs: set[str], time: int) -> None:
    """Nothing goes into the file but names, content, who may be run and the time of the commit.

    The checksums come last: an unpacked folder that has them is complete.
    """
    sums = "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files))
    with (
        replacing(out) as temporary,
        temporary.open("wb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.GNU_FORMAT) as tar,
    ):
        for name, content in [*sorted(files.items()), (SUMS, sums.encode())]:
            member = tarfile.TarInfo(f"{TOP}/{name}")
            member.size, member.mtime, member.mode = len(content), time, 0o755 if name in programs else 0o644
            tar.addfile(member, io.BytesIO(content))


def _read(path: Path) -> tuple[dict[str, str], bytes]:
    """Name -> checksum of every file of an archive but the checksums, and these; nothing is written."""
    found: dict[str, str] = {}
    sums = None
    for name, _, content in _members(path):
        if name == SUMS:
            sums = content.read()
        else:
            found[name] = hashlib.file_digest(content, "sha256").hexdigest()
    if sums is None:
        raise InputError(f"{path}: {SUMS} is missing: cut short, or not an archive of this project")
    return found, sums


def _members(path: Path) -> Iterator[tuple[str, tarfile.TarInfo, IO[bytes]]]:
    """Every file of an archive with its name and content; InputError if it is damaged, or not safe to unpack."""
    seen: set[str] = set()
    try:
        with gzip.open(path) as zipped:
            limited = _Limited(zipped, path)
            with tarfile.open(fileobj=limited, mode="r|") as tar:
                for member in tar:
                    name = _name(path, member)
                    if name in seen:
                        raise InputError(f"{path}: {name}: is in the archive twice")
                    seen.add(name)
                    yield name, member, tar.extractfile(member)
            # To the very end, where gzip keeps a checksum of its own.
            while limited.read(2**20):
                pass
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except DAMAGE as error:
        place = f", after {len(seen)} files" if seen else ""
        raise InputError(f"{path}: cut short, damaged or not an archive{place} ({error})") from None


class _Limited:
    """A stream that refuses to go on after so many bytes: a small file can be gigabytes of zeros, packed."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream, self._path, self._left = stream, path, LARGEST

    def read(self, size: int) -> bytes:
        content = self._stream.read(size)
        self._left -= len(content)
        if self._left < 0:
            raise InputError(f"{self._path}: more than {LARGEST:,} bytes when unpacked: no archive of this project")
        return content


def _listed(path: Path, sums: bytes) -> dict[str, str]:
    lines = [line.split("  ", 1) for line in sums.decode(errors="replace").splitlines()]
    if not all(len(line) == 2 for line in lines):
        raise InputError(f"{path}: {SUMS} is not a list of checksums and names")
    return {name: digest for digest, name in lines}


def _name(path: Path, member: tarfile.TarInfo) -> str:
    """The name of a file inside the archive's folder; InputError for anything that could be written elsewhere."""
    place = PurePosixPath(member.name)
    plain = member.isreg() and not member.issparse() and member.name.isprintable()
    if not plain or place.parts[:1] != (TOP,) or len(place.parts) < 2 or ".." in place.parts:
        raise InputError(f"{path}: {member.name!r:.300} is not a plain file inside {TOP}/: do not unpack this archive")
    return place.relative_to(TOP).as_posix()


def _scores(path: Path) -> list[dict[str, str]]:
    """The rows of a score table without times and memory, which no two runs share."""
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
            which = ", ".join(f"{key} {old[key]}" for key in ("method", "n", "m", "trial", "setting") if key in old)
            yield f"row {number} ({which}): {', '.join(changed)}"


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
            told = [*differences, f"the repeat differs from the archive ({len(differences)} differences)"]
            sys.exit(_printable("\n".join(told)))
        print(f"the repeat gives the same scores ({n_rows} rows)")


def _printable(text: str) -> str:
    """Names and tables of others may hold codes that a terminal would obey."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)


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
    except (InputError, OSError) as error:
        sys.exit(_printable(str(error)))


if __name__ == "__main__":
    main()
