"""Order of the methods when a user's config is laid over config.yaml."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def known_methods_first(config: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any]:
    """The same config with the known methods first, in their order, then the others in the order of config.

    Figures give colours and markers by this order. Snakemake itself puts the keys of a user's config first, so that one
    method more would change the look of all others.
    """
    methods = config.get("methods")
    if not isinstance(methods, Mapping):
        return dict(config)
    first = [id for id in known if id in methods]
    return {**config, "methods": {id: methods[id] for id in dict.fromkeys([*first, *methods])}}
