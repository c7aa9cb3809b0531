"""A leaderboard's table as text, for the report and the documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

HEADS = ("Rank", "Method", "Parameters", "Accuracy", "NMI", "ARI", "CPU s", "Memory (MB)")


def board_cells(rows: Iterable[Mapping[str, str]]) -> list[list[str]]:
    """The cells of each method, under `HEADS`, from the CSV table of a dataset."""
    return [[f"{float(row['rank']):g}", _name(row), row["parameters"] or "–", *_measured(row)] for row in rows]


def _name(row: Mapping[str, str]) -> str:
    return f"{row['label']} ○" if row["front"] == "True" else row["label"]


def _measured(row: Mapping[str, str]) -> list[str]:
    if row["stopped"]:
        text = stop_text(row["stopped"]).removesuffix(" CPU s")
        return ["–", "–", "–", *(("–", text.removesuffix(" MB")) if text.endswith(" MB") else (text, "–"))]
    accuracy, nmi, ari = (f"{float(row[key]):.3f}" for key in ("accuracy", "nmi", "ari"))
    spread = f" ± {float(row['accuracy_std']):.3f}" if row["accuracy_std"] else ""
    return [accuracy + spread, nmi, ari, format_seconds(float(row["cpu_seconds"])), f"{float(row['peak_mb']):,.0f}"]


def stop_text(stopped: str) -> str:
    """`> 200 CPU s`, or `refused`."""
    return stopped if stopped == "refused" else f"> {stopped}"


def format_seconds(seconds: float) -> str:
    """Seconds to two digits, and whole from ten on; the system counts CPU time in steps of some milliseconds."""
    if seconds < 0.01:
        return "< 0.01"
    return f"{seconds:.2g}" if seconds < 10 else f"{seconds:,.0f}"
