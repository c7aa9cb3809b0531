"""The report of a run: one HTML page of verdicts, figures, parameters and provenance, with all images inside.

Each experiment is shown from the files in its own folder. The template escapes everything.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lssc import __version__
from lssc.pipeline.store.files import read_text
from lssc.report.agreement import unlabelled_summary
from lssc.report.inlining import inlined
from lssc.report.leaderboard_cells import HEADS, board_cells
from lssc.report.outline import DESCRIPTION, format_value
from lssc.report.tables import read_table, uncoded_shares
from lssc.report.units import format_number

TEMPLATE = Path(__file__).parent / "page.html"
# In the order of display. The sign distinguishes verdicts without colours.
VERDICTS = {"holds": "✔", "holds in part": "◐", "does not hold": "✘", "undecided": "?", "not run": "–"}
KINDS = {
    "selector": "Landmarks",
    "coder": "Coding",
    "embedder": "Embedding",
    "clusterer": "Clustering",
    "refiner": "Refining",
    "method": "Whole method",
}

Claims = Sequence[Mapping[str, Any]]


def page(out: Path, claims: Claims, files: Sequence[Path], folders: Sequence[Path], earlier: Sequence[Path]) -> str:
    """The whole page, with links that start from the folder of `out`.

    `files` hold the claims. `folders` are those of the experiments of this run, `earlier` those of earlier runs.
    """
    from jinja2 import Environment, StrictUndefined

    template = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template.filters.update(link=lambda path: link(path, out), kind=lambda kind: KINDS.get(kind, kind))
    experiments = [section(folder, earlier=folder in earlier) for folder in (*folders, *earlier)]
    made = made_by({e["id"]: e["made"] for e in experiments})
    return template.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        version=__version__,
        results=out.parent.as_posix(),
        seeds=list(dict.fromkeys(e["seed"] for e in experiments)),
        judged=[claim for claim in claims if claim["verdict"] != "not run"],
        not_run=[claim for claim in claims if claim["verdict"] == "not run"],
        verdicts=VERDICTS,
        format_number=format_number,
        counts=count_verdicts(claims),
        claim_files=files,
        experiments=experiments,
        made=made,
        facts=list(dict.fromkeys(key for group in made for key in group["facts"])),
        sources={id: source["source"] for e in experiments for id, source in e["made"].get("images", {}).items()},
        inlined=inlined,
        board_heads=HEADS,
        # A leaderboard has its figures beside its tables.
        has_figures=any(e["figures"] or e["pictures"] or not e["boards"] for e in experiments),
    )


def section(folder: Path, *, earlier: bool) -> dict[str, Any]:
    """The outline of an experiment, with what the files in its folder add to it."""
    outline = json.loads(read_text(folder / DESCRIPTION))["outline"]
    sweep = outline["sweep"]
    rows = read_table(folder / "scores.csv")
    shares = uncoded_shares(rows)
    return {
        **outline,
        "folder": folder,
        "earlier": earlier,
        "sweep": {**sweep, "rows": _best(folder, sweep["rows"])} if sweep else None,
        "uncoded": {method: f"{largest.share:.1%}" for method, largest in shares.items()},
        "unlabelled": unlabelled_summary(rows),
        "boards": _boards(folder, outline.get("leaderboard")),
        "made": json.loads(read_text(folder / "provenance.json")),
    }


def _boards(folder: Path, leaderboard: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """The datasets of a leaderboard with their tables."""
    datasets = leaderboard["datasets"] if leaderboard else []
    return [{**entry, "rows": board_cells(read_table(folder / entry["image"]["csv"]))} for entry in datasets]


def _best(folder: Path, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The methods of a sweep with their best settings."""
    best = {row["method"]: row for row in read_table(folder / "best.csv")}
    for row in best.values():
        marks = dict.fromkeys(row["at_edge"].split(), " (edge of the grid)")
        setting = json.loads(row["setting"])
        row["chosen"] = [(key, format_value(value) + marks.get(key, "")) for key, value in setting.items()]
    return [{**row, "best": best.get(row["id"])} for row in rows]


def count_verdicts(claims: Claims) -> dict[str, Counter]:
    """Whose claims -> how many have each verdict. A reading of the paper is not one of its claims."""
    counts: dict[str, Counter] = {}
    for claim in claims:
        if not claim["reading"]:
            whose = "of your own" if claim.get("own") else "of the paper"
            counts.setdefault(whose, Counter())[claim["verdict"]] += 1
    return counts


def link(path: Path, page: Path) -> str:
    """The address of a file, relative to the page."""
    return quote(Path(os.path.relpath(path, page.parent)).as_posix())


def made_by(provenances: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Software and machine, with the experiments they made: one entry if all were made by the same."""
    groups: list[dict[str, Any]] = []
    for experiment, provenance in provenances.items():
        facts = _facts(provenance)
        same = next((group for group in groups if group["facts"] == facts), None)
        if same is None:
            groups.append(same := {"facts": facts, "experiments": []})
        same["experiments"].append(experiment)
    return groups


def _facts(provenance: Mapping[str, Any]) -> dict[str, str]:
    machine = provenance.get("machine", {})
    facts = {
        "commit": provenance.get("commit"),
        "lssc": provenance.get("library"),
        "system": machine.get("system"),
        "processor": machine.get("processor"),
        "cores": machine.get("cores"),
        "Python": provenance.get("python"),
        **provenance.get("packages", {}),
    }
    return {key: "not known" if value is None else str(value) for key, value in facts.items()}
