"""Verdicts on claims, from their findings.

A claim holds if every finding meets its target, in part if some do, and does not hold if none does. It is undecided if
every interval lies only partly inside its target, and not run if the tables lack what it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lssc.paper.findings import Finding, NotRun, Row, Tables
from lssc.report.units import format_number


@dataclass(frozen=True)
class Claim:
    """A statement, its source, and the check that turns score tables into findings.

    A `reading` is not counted as a claim: it shows under which reading of the paper its result may come about.
    """

    id: str
    source: str
    claim: str
    check: Callable[[Tables], Iterable[Finding]]
    reading: bool = False
    # Whether it comes from a file of the user's.
    own: bool = False


def judge_all(
    claims: Iterable[Claim], scores: Mapping[str, Sequence[Row]], agreement: Mapping[str, Sequence[Row]]
) -> list[dict[str, Any]]:
    """Every claim with its verdict by these tables, ready to be written as JSON."""
    tables = Tables(scores, agreement)
    return [judge(claim, tables) for claim in claims]


def judge(claim: Claim, tables: Tables) -> dict[str, Any]:
    """The claim with its findings, its verdict and a summary in words."""
    entry = {"id": claim.id, "source": claim.source, "claim": claim.claim, "reading": claim.reading}
    entry |= {"own": True} if claim.own else {}
    try:
        findings = list(claim.check(tables))
    except NotRun as missing:
        return {**entry, "verdict": "not run", "summary": f"Needs {missing}.", "findings": []}
    results = {"verdict": verdict(findings), "summary": summary(findings), "findings": [asdict(f) for f in findings]}
    return {**entry, **results}


def verdict(findings: Sequence[Finding]) -> str:
    answers = {finding.holds for finding in findings}
    if not answers:
        return "not run"
    if answers == {True}:
        return "holds"
    if answers == {None}:
        return "undecided"
    return "holds in part" if True in answers else "does not hold"


def summary(findings: Sequence[Finding]) -> str:
    """One sentence per comparison; it says where the target is missed or left open."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.what, finding.target), []).append(finding)
    return " ".join(_sentence(what, group) for (what, _), group in groups.items())


def _sentence(what: str, group: Sequence[Finding]) -> str:
    what = what[:1].upper() + what[1:]
    numbers = ", ".join(format_number(f.estimate, f.unit) for f in group)
    if len(group) == 1:
        f = group[0]
        text = f"{what}: {numbers} ({format_number(f.low, f.unit)} to {format_number(f.high, f.unit)}) at {f.where}"
    else:
        text = f"{what}: {numbers} at {_sizes(group)}"
    remarks = [(f"not {group[0].target}", False), (f"open whether {group[0].target}", None)]
    parts = [_remark(words, group, [f for f in group if f.holds is answer]) for words, answer in remarks]
    return "; ".join([text, *filter(None, parts)]) + "."


def _remark(words: str, group: Sequence[Finding], concerned: Sequence[Finding]) -> str:
    """`not above 0 at m = 100`; empty if it concerns no finding."""
    if not concerned or len(group) == 1:
        return words if concerned else ""
    return f"{words} anywhere" if len(concerned) == len(group) else f"{words} at {_sizes(concerned)}"


def _sizes(group: Sequence[Finding]) -> str:
    """`m = 100, 200, 300` for findings that differ in one size."""
    if group[0].where.count(" = ") > 1:
        return "; ".join(f.where for f in group)
    key = group[0].where.split(" = ")[0]
    return f"{key} = " + ", ".join(f.where.split(" = ")[-1] for f in group)
