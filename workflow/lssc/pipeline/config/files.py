"""Config files are data. Snakemake's own reader also fills in templates, which can run any Python code."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from lssc.pipeline.config.plain import MOST, plain_problems
from lssc.pipeline.study.recipes import ConfigError

# Bytes of a file; the paper's config has 16,000.
LARGEST = 1_000_000
# What Snakemake takes out of a config for itself before anybody can look at it.
NOT_OURS = {
    "__use_yte__": "templates would run code of the file; config is data here",
    "pathvars": "unknown key; the folders are named by results and data",
}
MERGE = "tag:yaml.org,2002:merge"
# Mappings that one key may merge.
MERGED = 10


def read_config(path: str | Path) -> dict[str, Any]:
    """The mapping in a JSON or YAML file of plain data; ConfigError names the file, and the line if one is to blame."""
    try:
        config = _parsed(_text(Path(path)))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise ConfigError([f"{path}: {_told(error)}"]) from None
    if not isinstance(config, dict):
        raise ConfigError([f"{path}: must hold a mapping of keys to values"])
    problems = plain_problems(config) or [f"{key}: {why}" for key, why in NOT_OURS.items() if key in config]
    if problems:
        raise ConfigError([f"{path}: {problem}" for problem in problems])
    return config


def _text(path: Path) -> str:
    with path.open("rb") as file:
        raw = file.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise ValueError(f"larger than {LARGEST:,} bytes")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise ValueError(f"line {line}: byte {raw[error.start]:#04x} is no UTF-8 text") from None


def _parsed(text: str) -> Any:
    try:
        # JSON may be indented by tabs, YAML may not.
        return json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError:
        pass
    try:
        return yaml.load(text, Loader=_Loader)
    except (AttributeError, LookupError, TypeError):
        # PyYAML stumbles over a type, such as !!bool, that its value is not of.
        raise ValueError("a value does not fit the type that !! gives it") from None


def _unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} is there twice")
        found[key] = value
    return found


class _Loader(yaml.SafeLoader):
    """Refuses a key that is there twice, of which YAML would drop one without a word, and merging without end."""

    def compose_mapping_node(self, anchor: Any) -> Any:
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and (key.tag, key.value) in seen:
                raise yaml.MarkedYAMLError(problem=f"the key {key.value!r} is there twice", problem_mark=key.start_mark)
            seen.add((key.tag, str(key.value)))
        return node

    def flatten_mapping(self, node: Any) -> None:
        for key, value in node.value:
            if key.tag == MERGE and isinstance(value, yaml.SequenceNode) and len(value.value) > MERGED:
                problem = f"more than {MERGED} mappings to merge"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
        super().flatten_mapping(node)
        if len(node.value) > MOST:
            raise yaml.MarkedYAMLError(problem=f"more than {MOST:,} keys", problem_mark=node.start_mark)


def _told(error: Exception) -> str:
    """What is wrong, in one line."""
    if isinstance(error, RecursionError):
        return "nested too deep"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if mark := getattr(error, "problem_mark", None):
        return f"line {mark.line + 1}: {getattr(error, 'problem', None) or 'not YAML'}"
    return str(error).partition("\n")[0]
