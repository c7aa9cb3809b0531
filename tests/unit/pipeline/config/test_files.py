"""Config files are plain data: anything else is refused in one line, and nothing in them is executed."""

import subprocess
import sys

import pytest
from tests.conftest import REPO

from lssc.errors import ConfigError
from lssc.pipeline.config.files import read_config

BAD = {
    "template": ('__use_yte__: true\nseed: \'?__import__("os").system("touch pwned")\'', "templates would run code"),
    "object": ('seed: !!python/object/apply:os.system ["touch pwned"]', "line 1: could not determine a constructor"),
    "twice": ("seed: 1\nrun:\n  - a\nseed: 2\n", "line 4: the key 'seed' is there twice"),
    "folders of Snakemake": ("pathvars: 5", "pathvars: unknown key"),
    "tab": ("run:\n\t- a", r"line 2: found character '\t' that cannot start any token"),
    "no end": ("run: [a", "line 1: expected ',' or ']', but got '<stream end>'"),
    "empty": ("", "must hold a mapping"),
    "list": ("[a]", "must hold a mapping"),
    "text": ("config", "must hold a mapping"),
    "two documents": ("a: 1\n---\nb: 2", "line 2: but found another document"),
    "no alias": ("a: *b", "line 1: found undefined alias 'b'"),
    "date": ("title: 2019-01-01", 'title: "date 2019-01-01" must be text'),
    "no date": ("title: 2019-99-99", "month must be in 1..12"),
    "not finite": ("seed: .inf", "seed: inf must be a finite number"),
    "beyond numbers": ("seed: 1.0e+400", "seed: inf must be a finite number"),
    "large number": (f"seed: {2**63}", "seed: a whole number of more than 18 digits is too large"),
    "number as a key": ("1: a", "top level: the key 1 must be text"),
    "nothing as a key": ("run: {null: a}", "run: the key null must be text"),
    "switch as a key": ("run: {on: a}", "run: the key true must be text"),
    "list as a key": ("? [a]\n: b", "line 1: found unhashable key"),
    "line break": ('title: "a\\nb"', r'title: "a\nb" must be one line of text'),
    "control character": ('"\\e[31m": 1', r'top level: "\u001b[31m" must be one line of text'),
    "long": (f"title: {'x' * 200_000}", "takes 200,0"),
    "long by escapes": (f"title: {'<' * 20_000}", "takes 120,0"),
}


def refusal(path):
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    [line] = str(caught.value).splitlines()
    assert line.startswith(f"config: {path}: ")
    assert len(line) < 600
    return line.removeprefix(f"config: {path}: ")


@pytest.mark.parametrize("text", BAD)
def test_refuses_all_but_plain_data_in_one_line(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    content, problem = BAD[text]
    (tmp_path / "c.yaml").write_text(content)
    assert problem in refusal(tmp_path / "c.yaml")
    assert [path.name for path in tmp_path.iterdir()] == ["c.yaml"]


def test_reports_missing_file_and_wrong_encoding(tmp_path):
    path = tmp_path / "c.yaml"
    assert refusal(path) == "No such file or directory"
    path.write_bytes(b"seed: 1\ntitle: \xff\n")
    assert refusal(path) == "line 2: byte 0xff is not UTF-8 text"
    assert refusal(tmp_path) == "Is a directory"


@pytest.mark.parametrize(
    ("text", "config"),
    [
        ("\ufeffseed: 1", {"seed": 1}),
        ("a: &a {k: 1, l: 2}\nb: {<<: *a, k: 3}", {"a": {"k": 1, "l": 2}, "b": {"k": 3, "l": 2}}),
        ('title: "$(touch pwned) `x` {wildcards} <b> \\\\"', {"title": "$(touch pwned) `x` {wildcards} <b> \\"}),
    ],
)
def test_reads_plain_data(tmp_path, text, config):
    (tmp_path / "c.yaml").write_text(text)
    assert read_config(tmp_path / "c.yaml") == config


def test_reads_json(tmp_path):
    (tmp_path / "c.json").write_text('{\n\t"title": "\\ud83d\\ude00"\n}')
    assert read_config(tmp_path / "c.json") == {"title": "😀"}
    (tmp_path / "c.json").write_text('{"seed": 1, "seed": 2}')
    assert refusal(tmp_path / "c.json") == "the key 'seed' is there twice"


@pytest.mark.parametrize("name", ["config", "demo", "digits", "scale"])
def test_reads_the_configs_of_this_project(name):
    assert read_config(REPO / f"config/{name}.yaml")["run"]


def test_snakemake_runs_no_template(tmp_path):
    """Its own reader would run it before any line of the Snakefile."""
    (tmp_path / "c.yaml").write_text(BAD["template"][0])
    command = ["--snakefile", REPO / "Snakefile", "--directory", tmp_path, "--configfile", tmp_path / "c.yaml"]
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", *command, "--cores", "1", "--dry-run"], capture_output=True, text=True
    )
    assert done.returncode != 0
    assert f"config: {tmp_path}/c.yaml: __use_yte__: templates would run code" in done.stdout + done.stderr
    assert not (tmp_path / "pwned").exists()
    assert not (REPO / "pwned").exists()
