"""Record CPU seconds and peak memory of the jobs of a finished run: `python docs/jobs.py results`, where it ran.

Stages that work on trials have both in their artifacts. Other jobs run once more, by the command that Snakemake
recorded, into a temporary folder; of the jobs that score labels, one for each dataset and n. Downloads are left out.
"""

import csv
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lssc.pipeline.store.artifacts import reading
from lssc.pipeline.store.files import write_text
from lssc.pipeline.study.load import load
from lssc.pipeline.study.model import Study
from lssc.pipeline.study.paths import LAST_CONFIG
from lssc.pipeline.study.results import figures_of, pictures_of, results_of
from lssc.pipeline.study.steps import step_of
from lssc.report.tables import as_csv

TABLE = Path(__file__).parent / "results/jobs.csv"
RUN = ("dataset", "n", "block", "selector", "m", "coder", "embedder", "clusterer")
COLUMNS = ("rule", "experiment", "images", "features", "shard", "reduction", "size", *RUN, "cpu_seconds", "peak_mb")
# Run by a small process: the peak memory of a child starts at the size of its parent.
MEASURE = """
import resource, subprocess, sys
subprocess.run(["bash", "-c", sys.argv[1]], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""
# Path of an output -> the columns of the table that describe its job.
Jobs = dict[str, dict[str, str]]


def keep(results: Path) -> None:
    config = results / LAST_CONFIG
    study = load(json.loads(config.read_text()))
    rows = [{**known, **recorded(path)} for path, known in with_facts(study).items()]
    rows += [{**known, **spent} for known, spent in run_again(without_facts(study), config)]
    write_text(TABLE, as_csv([dict.fromkeys(COLUMNS) | row for row in rows]))


def job(rule: str, pattern: str, **values: str) -> Jobs:
    return {pattern.format(**values): {"rule": rule, **{key: values[key] for key in re.findall(r"{(\w+)}", pattern)}}}


def with_facts(study: Study) -> Jobs:
    """Jobs on trials and on images: their artifacts hold CPU seconds and memory."""
    paths, jobs = study.paths, {}
    runs = [run for id in study.run for run in study.experiments[id].runs()]
    for data in (study.datasets[id] for id in dict.fromkeys(run.dataset for run in runs)):
        if data.collection:
            images = study.collections[data.collection]
            known = {"images": images.id, "features": images.features.slug, "size": str(images.size)}
            for shard in images.shards:
                jobs |= job("featurise_images", paths.shard, shard=shard, **known)
            if data.reduction:
                jobs |= job("reduce_features", paths.reduced, reduction=data.reduction_slug, **known)
    for run in runs:
        jobs |= job("generate_data", paths.data, **run.wildcards)
        for step in (step_of(part.kind) for part in run.method.parts):
            jobs |= job(step.rule, paths.artifact(step.makes), **run.wildcards)
    return jobs


def without_facts(study: Study) -> Jobs:
    """The other jobs, each by one of its outputs."""
    paths, jobs = study.paths, job("check_claims", study.paths.claims) | job("write_report", study.paths.report)
    scored = {(run.dataset, run.n): run.wildcards for id in study.run for run in study.experiments[id].runs()}
    for wildcards in scored.values():
        run = {key: wildcards[key] for key in RUN if key in wildcards}
        jobs[paths.scores.format(**wildcards)] = {"rule": "score_labels", **run}
    for id in study.run:
        rules = {"gather_scores": "scores.csv", "choose_parameters": "best.csv", "compare_embeddings": "agreement.csv"}
        made = {rule: paths.experiment(name) for rule, name in rules.items()}
        made |= {
            "plot_figures": (figures_of(study, id) or [""])[0],
            "draw_pictures": (pictures_of(study, id) or [""])[0],
        }
        expected = results_of(study, id)
        jobs |= {
            path: {"rule": rule, "experiment": id}
            for rule, pattern in made.items()
            if (path := pattern.format(experiment=id)) in expected
        }
    return jobs


def recorded(path: str) -> dict[str, float]:
    with reading(Path(path)) as file:
        facts = [file.facts(trial) for trial in file.trials]
    return spent(sum(fact["cpu_seconds"] for fact in facts), max(fact["peak_mb"] for fact in facts))


def spent(cpu_seconds: float, peak_mb: float) -> dict[str, float]:
    return {"cpu_seconds": round(cpu_seconds, 3), "peak_mb": round(peak_mb, 1)}


def run_again(jobs: Jobs, config: Path) -> Iterator[tuple[dict[str, str], dict[str, Any]]]:
    """Each job's description, and CPU seconds and memory of its process."""
    command = ["snakemake", "--detailed-summary", "--replace-workflow-config", "--configfile", str(config)]
    summary = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    lines = list(csv.DictReader(summary.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    for line in lines:
        if line["output_file"] in jobs:
            same = [other for other in lines if other["shellcmd"] == line["shellcmd"]]
            written = {other["output_file"] for other in same} | {line["log-file(s)"]}
            yield jobs[line["output_file"]], run_elsewhere(line["shellcmd"], written)


def run_elsewhere(command: str, written: set[str]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as scratch:
        for path in written:
            command = command.replace(path, f"{scratch}/{Path(path).name}")
        done = subprocess.run([sys.executable, "-c", MEASURE, command], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"failed: {command}")
    return spent(*map(float, done.stdout.split()))


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
