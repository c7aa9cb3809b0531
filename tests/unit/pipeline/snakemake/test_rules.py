"""Rules and captions as text: what config says reaches no shell unquoted and is taken for no wildcard or markup."""

import re

import pytest
from tests.conftest import REPO

RULES = {path.name: path.read_text() for path in (REPO / "workflow/rules").glob("*.smk")}
# A number that Snakemake makes itself.
PLAIN = {"threads"}


def blocks(text, name):
    """The indented lines below each `name:` of the rules."""
    return re.findall(rf"^( +){name}:\n((?:\1 +.*\n)+)", text, re.MULTILINE)


def commands():
    return [body for text in RULES.values() for _, body in blocks(text, "shell")]


def test_every_rule_runs_one_command():
    assert len(commands()) == sum(text.count("shell:") for text in RULES.values()) > 10


@pytest.mark.parametrize("command", commands(), ids=lambda command: re.search(r"(?:stages|paper)\.(\w+)", command)[1])
def test_commands_quote_all_values(command):
    filled = re.findall(r"\{([^{}]*)\}", command)
    assert filled
    assert [field for field in filled if not field.endswith(":q") and field not in PLAIN] == []


def test_params_are_functions_or_hashes_as_snakemake_fills_wildcards_into_plain_text():
    given = [line.strip() for t in RULES.values() for _, body in blocks(t, "params") for line in body.splitlines()]
    assert len(given) > 20
    allowed = r"\w+=(?:\w+|(?:step_recipe|step_code|as_it_is|numerics)\(.*\)),"
    assert [line for line in given if not re.fullmatch(allowed, line)] == []


@pytest.mark.parametrize("path", sorted((REPO / "workflow/report").glob("*.rst")), ids=lambda path: path.name)
def test_captions_hold_ids_and_numbers_of_config_only(path):
    # Snakemake's own report reads captions as reStructuredText, which can hold HTML and take in any file.
    filled = [" ".join(field.split()) for field in re.findall(r"\{\{(.*?)\}\}", path.read_text(), re.DOTALL)]
    ids = {"snakemake.wildcards.experiment", "snakemake.rule[5:]"}
    assert set(filled) <= ids | {'snakemake.config["seed"]', 'snakemake.config["run"] | join(", ")'}
