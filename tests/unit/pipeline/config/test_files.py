"""Config files: data alone, told in one line where they are anything else. No file may run, hang or fill the memory."""

import json
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.conftest import REPO

from lssc.pipeline.config.files import read_config
from lssc.pipeline.config.plain import plain_problems
from lssc.pipeline.study.recipes import ConfigError

# Ten times ten times ten ...
ALIASES = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12))
MAPPINGS = "a0: &a0 {x: y}\n" + "".join(
    f"a{i}: &a{i} {{{', '.join(f'k{j}: *a{i - 1}' for j in range(10))}}}\n" for i in range(1, 12)
)
MERGES = f"a0: &a0 {{{', '.join(f'k{j}: 1' for j in range(10))}}}\n" + "".join(
    f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 10)}]}}\n" for i in range(1, 12)
)
BAD = {
    "template": ('__use_yte__: true\nseed: \'?__import__("os").system("touch pwned")\'', "templates would run code"),
    "object": ('seed: !!python/object/apply:os.system ["touch pwned"]', "line 1: could not determine a constructor"),
    "function": ("seed: !!python/name:os.system", "line 1: could not determine a constructor"),
    "twice": ("seed: 1\nrun:\n  - a\nseed: 2\n", "line 4: the key 'seed' is there twice"),
    "twice in JSON": ('{"seed": 1, "seed": 2}', "the key 'seed' is there twice"),
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
    "bytes": ("title: !!binary aGk=", "title: \"bytes b'hi'\" must be text"),
    "set": ("title: !!set {a}", "title: \"set {'a'}\" must be text"),
    "not finite": ("seed: .inf", "seed: inf must be a finite number"),
    "not a number": ('{"seed": NaN}', "seed: nan must be a finite number"),
    "beyond numbers": ("seed: 1.0e+400", "seed: inf must be a finite number"),
    "large number": (f"seed: {2**63}", "seed: a whole number of more than 18 digits is too large"),
    "larger number": (f"seed: 0x{'f' * 9000}", "seed: a whole number of more than 18 digits is too large"),
    "largest number": (f"seed: {'9' * 9000}", "Exceeds the limit"),
    "number as a key": ("1: a", "top level: the key 1 must be text"),
    "nothing as a key": ("run: {null: a}", "run: the key null must be text"),
    "switch as a key": ("run: {on: a}", "run: the key true must be text"),
    "list as a key": ("? [a]\n: b", "line 1: found unhashable key"),
    "large key": (f"? 0x{'f' * 9000}\n: a", "top level: the key a very large int must be text"),
    "line break": ('title: "a\\nb"', r'title: "a\nb" must be one line of text'),
    "zero byte": ('title: "\\0"', r'title: "\u0000" must be one line of text'),
    "half a character": ('{"title": "\\ud800"}', r'title: "\ud800" must be one line of text'),
    "terminal codes in a key": ('"\\e[31m": 1', r'top level: "\u001b[31m" must be one line of text'),
    "holds itself": ("run: &a [*a]", "run.0.0: nested more than 20 levels deep"),
    "deep": (f"run: {'[' * 9000}", "nested too deep"),
    "deep in JSON": ('{"a":' * 90000, "nested too deep"),
    "aliases": (ALIASES, "more than 20,000 values"),
    "mappings": (MAPPINGS, "more than 20,000 values"),
    "merges": (MERGES, "more than 20,000 keys"),
    "many merges": ("a: &a {b: 1}\nb: {<<: [" + ", ".join(["*a"] * 11) + "]}", "more than 10 mappings to merge"),
    "much": (json.dumps({"title": "x" * 200_000}), "takes 200,0"),
    "much by its signs": (json.dumps({"title": "<" * 20_000}), "takes 120,0"),
    "more": ("#" * 1_000_001, "larger than 1,000,000 bytes"),
}


def refusal(path):
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    [line] = str(caught.value).splitlines()
    assert line.startswith(f"config: {path}: ")
    assert len(line) < 600
    return line.removeprefix(f"config: {path}: ")


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_plain_data_is_refused_in_one_line(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    content, said = BAD[text]
    (tmp_path / "c.yaml").write_text(content)
    assert said in refusal(tmp_path / "c.yaml")
    assert [path.name for path in tmp_path.iterdir()] == ["c.yaml"]


def test_a_file_that_is_no_text_or_not_there_is_refused(tmp_path):
    path = tmp_path / "c.yaml"
    assert refusal(path) == "No such file or directory"
    path.write_bytes(b"seed: 1\ntitle: \xff\n")
    assert refusal(path) == "line 2: byte 0xff is no UTF-8 text"
    assert refusal(tmp_path) == "Is a directory"


@pytest.mark.parametrize(
    ("text", "config"),
    [
        ("\ufeffseed: 1", {"seed": 1}),
        ('{\n\t"title": "é"\n}', {"title": "é"}),
        ("a: &a {k: 1, l: 2}\nb: {<<: *a, k: 3}", {"a": {"k": 1, "l": 2}, "b": {"k": 3, "l": 2}}),
        ("a: {<<: *b}", None),
        ('title: "$(touch pwned) `x` {wildcards} <b> \\\\"', {"title": "$(touch pwned) `x` {wildcards} <b> \\"}),
    ],
)
def test_plain_data_is_read_as_it_is(tmp_path, text, config):
    (tmp_path / "c.yaml").write_text(text)
    if config is None:
        refusal(tmp_path / "c.yaml")
    else:
        assert read_config(tmp_path / "c.yaml") == config


@pytest.mark.parametrize("name", ["config", "demo", "digits", "scale"])
def test_the_configs_of_this_project_are_plain_data(name):
    assert read_config(REPO / f"config/{name}.yaml")["run"]


BITS = st.sampled_from(
    [*":{}[],&*!|>'\"%@`#-?\n\t <\\\0\x85\u2028", "a", "1", "<<", "&a ", "*a", "!!", "- ", ": ", "\n  "]
)


@settings(max_examples=150)
@given(st.lists(BITS, max_size=25).map("".join) | st.text(max_size=30))
@example("a: !!timestamp x")
@example("a: !!bool x")
@example("a: !!int ''")
def test_any_text_is_plain_data_or_refused_in_one_line(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(text.encode(errors="surrogatepass"))
    try:
        config = read_config(path)
    except ConfigError as error:
        [line] = str(error).splitlines()
        assert line.startswith(f"config: {path}: ")
    else:
        assert plain_problems(config) == []
        assert json.loads(json.dumps(config)) == config


def test_snakemake_reads_config_files_as_data(tmp_path):
    """Its own reader would run the template, long before any line of the Snakefile."""
    (tmp_path / "c.yaml").write_text(BAD["template"][0])
    command = ["--snakefile", REPO / "Snakefile", "--directory", tmp_path, "--configfile", tmp_path / "c.yaml"]
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", *command, "--cores", "1", "--dry-run"], capture_output=True, text=True
    )
    assert done.returncode != 0
    assert f"config: {tmp_path}/c.yaml: __use_yte__: templates would run code" in done.stdout + done.stderr
    assert not (tmp_path / "pwned").exists()
    assert not (REPO / "pwned").exists()
