"""Reads config files: YAML or JSON, as plain data. Snakemake's own reader also runs templates, which are code."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from lssc.errors import ConfigError
from lssc.pipeline.config.plain import plain_problems

# Keys that Snakemake would act on before our checks see them.
NOT_OURS = {
    "__use_yte__": "templates would run code from the file; remove the key",
    "pathvars": "unknown key; name the folders by results and data",
}


def read_config(path: str | Path) -> dict[str, Any]:
    """The mapping in a JSON or YAML file; ConfigError names the file, and the line if there is one."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
        is_json = path.suffix == ".json"
        config = json.loads(text, object_pairs_hook=_unique) if is_json else yaml.load(text, Loader=_Loader)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigError([f"{path}: {_reason(error)}"]) from None
    if not isinstance(config, dict):
        raise ConfigError([f"{path}: must hold a mapping of keys to values"])
    problems = plain_problems(config) or [f"{key}: {why}" for key, why in NOT_OURS.items() if key in config]
    if problems:
        raise ConfigError([f"{path}: {problem}" for problem in problems])
    return config


def _unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key, value in pairs:
        if key in mapping:
            raise ValueError(f"the key {key!r} is there twice")
        mapping[key] = value
    return mapping


class _Loader(yaml.SafeLoader):
    """Refuses a repeated key, of which YAML would silently drop one."""

    def compose_mapping_node(self, anchor: Any) -> Any:
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"the key {key.value!r} is there twice", problem_mark=key.start_mark)
            seen.add(key.value)
        return node


def _reason(error: Exception) -> str:
    """What is wrong, in one line."""
    if isinstance(error, UnicodeDecodeError):
        line = error.object[: error.start].count(b"\n") + 1
        return f"line {line}: byte {error.object[error.start]:#04x} is not UTF-8 text"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if mark := getattr(error, "problem_mark", None):
        return f"line {mark.line + 1}: {getattr(error, 'problem', None) or 'not YAML'}"
    return str(error).partition("\n")[0]
