"""What jobs ask a cluster for, held against what all jobs of the full run used (`docs/results/jobs.csv`)."""

import csv
import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from tests.conftest import merge_configs

from lssc.pipeline.snakemake import resources
from lssc.pipeline.snakemake.resources import (
    COSTS,
    LEAST,
    SNAKEMAKE_MB,
    TIME_MARGIN,
    Limits,
    ask,
    group_minutes,
    seconds,
)
from lssc.pipeline.study.load import load

REPO = Path(__file__).parents[4]
CONFIG = yaml.safe_load((REPO / "config/config.yaml").read_text())
STUDY = load(CONFIG)
kept = SimpleNamespace(**runpy.run_path(str(REPO / "docs/jobs.py")))
with (REPO / "docs/results/jobs.csv").open() as table:
    JOBS = [{key: value for key, value in row.items() if value} for row in csv.DictReader(table)]
# Nobody can say how long a network takes.
RULES = sorted({rule for rule, _ in COSTS} - {"fetch_images", "apply_method"})
# CPU seconds from which a time is more than noise.
LONG = 10
STAGES = {"select": "select_landmarks", "code": "code_points", "embed": "embed_points", "cluster": "cluster_points"}
every_rule = pytest.mark.parametrize("rule", RULES)


def jobs(rule):
    return [(job, float(job["cpu_seconds"]), float(job["peak_mb"])) for job in JOBS if job["rule"] == rule]


def memory(study, rule, wildcards):
    """Asked for beyond what Snakemake itself takes beside the job."""
    return ask(study, rule, wildcards)["mem_mb"] - SNAKEMAKE_MB


def test_the_kept_table_is_of_the_jobs_in_config():
    wanted = [*kept.with_facts(STUDY).values(), *kept.without_facts(STUDY).values()]
    told = [{key: value for key, value in job.items() if key not in ("cpu_seconds", "peak_mb")} for job in JOBS]
    assert sorted(sorted(job.items()) for job in told) == sorted(sorted(job.items()) for job in wanted), (
        "run `make keep`"
    )
    assert {job["rule"] for job in JOBS} == set(RULES)


@every_rule
def test_memory_asked_for_is_once_to_twice_what_was_used(rule):
    ratios = {str(job): memory(STUDY, rule, job) / peak for job, _, peak in jobs(rule)}
    assert {job: ratio for job, ratio in ratios.items() if not 1 <= ratio <= 2} == {}


@every_rule
def test_runtime_asked_for_is_once_to_twice_what_was_used_or_the_least(rule):
    minutes = {str(job): (ask(STUDY, rule, job)["runtime"], cpu / 60) for job, cpu, _ in jobs(rule)}
    assert {job: (asked, used) for job, (asked, used) in minutes.items() if asked < used} == {}
    assert {job: (asked, used) for job, (asked, used) in minutes.items() if LEAST < asked > 2 * used} == {}


def test_expected_seconds_fit_also_where_the_least_hides_them():
    long = [(rule, job, cpu) for rule in RULES for job, cpu, _ in jobs(rule) if cpu >= LONG]
    ratios = {str(job): TIME_MARGIN * seconds(STUDY, rule, job) / cpu for rule, job, cpu in long}
    assert len(ratios) > 50
    assert {job: ratio for job, ratio in ratios.items() if not 1 <= ratio <= 2} == {}


@pytest.mark.parametrize("experiment", ["scale", "ten_million"])
def test_memory_of_many_points(experiment):
    config = merge_configs(CONFIG, yaml.safe_load((REPO / "config/scale.yaml").read_text()))
    study = load({**config, "run": [experiment]})
    with (REPO / f"docs/results/{experiment}/scores.csv").open() as table:
        rows = {(row["method"], int(row["n"]), int(row["trial"])): row for row in csv.DictReader(table)}
    ratios = {}
    for run in study.experiments[experiment].runs():
        key = (run.method.id, run.n, run.block.first)
        for stage, rule in STAGES.items():
            ratios[*key, stage] = memory(study, rule, run.wildcards) / float(rows[key][f"{stage}_peak_mb"])
    assert len(ratios) == 4 * len(rows)
    assert {key: ratio for key, ratio in ratios.items() if not 1 <= ratio <= 2} == {}


def test_every_attempt_asks_for_twice_as_much():
    for rule in RULES:
        job = jobs(rule)[0][0]
        first = ask(STUDY, rule, job)
        for attempt, times in ((1, 1), (2, 2), (3, 4)):
            assert ask(STUDY, rule, job, attempt) == {name: times * amount for name, amount in first.items()}


def test_nobody_asks_for_more_than_a_cluster_has():
    known = {"dataset": "synthetic", "n": "4000", "m": "4000", "selector": "all", "coder": "admm.alpha=10"}
    known["block"] = "t00-19"
    free = ask(STUDY, "code_points", known, 3)
    bounds = Limits(slower=2, max_runtime=600, max_mem_mb=5000)
    assert ask(STUDY, "code_points", known, 3, bounds) == {"mem_mb": 5000, "runtime": 600}
    assert ask(STUDY, "code_points", known, 3, Limits(slower=2))["runtime"] == pytest.approx(
        2 * free["runtime"], rel=0.01
    )
    assert group_minutes([1e6], 1, bounds) == 600


def test_a_group_asks_for_one_start_and_for_what_its_members_take():
    few, many = group_minutes([1.0] * 10), group_minutes([1.0] * 100)
    assert LEAST < few < 2 * LEAST
    assert 10 * (few - LEAST) - 10 <= many - LEAST <= 10 * (few - LEAST)
    hours = [3600.0] * 4
    assert 4 * 60 * TIME_MARGIN < group_minutes(hours) < 4 * 60 * TIME_MARGIN + 2 * LEAST
    assert group_minutes(hours, 2) == 2 * group_minutes(hours)


def test_trials_add_up_in_time_not_in_memory():
    known = {"dataset": "synthetic", "n": "3600", "m": "3600", "selector": "all", "coder": "admm.alpha=10"}
    few, many = (ask(STUDY, "code_points", {**known, "block": block}) for block in ("t00-01", "t00-19"))
    assert many["mem_mb"] == few["mem_mb"]
    assert many["runtime"] == pytest.approx(10 * few["runtime"], rel=0.05)


def test_matrices_of_n_by_n_are_asked_for_where_a_method_has_them():
    def asked(n, selector, m, coder):
        parts = {"dataset": "synthetic", "selector": selector, "coder": coder}
        return memory(STUDY, "code_points", {**parts, "n": str(n), "m": str(m), "block": "t00-00"})

    assert asked(40_000, "all", 40_000, "admm.alpha=10") > 3.9 * asked(20_000, "all", 20_000, "admm.alpha=10")
    assert asked(40_000, "uniform", 300, "lasso.lam=10") < 1.3 * asked(20_000, "uniform", 300, "lasso.lam=10")


@pytest.mark.parametrize("rule", sorted(resources.KINDS.keys() - {"apply_method"}))
def test_a_part_that_is_not_in_the_table_is_given_enough(rule, monkeypatch):
    # Of all that is known, only steps of n^3 operations and PCA in every trial could not do with it.
    beyond = {"admm.alpha=10", "admm.alpha=10+max_iter=20+tol=0", "explicit", "mnist_subset_pca"}
    known = [used for used in jobs(rule) if used[0][resources.KINDS[rule]] not in beyond]
    assert known
    monkeypatch.setattr(resources, "COSTS", {key: cost for key, cost in COSTS.items() if key[1] is None})
    for job, cpu, peak in known:
        assert memory(STUDY, rule, job) >= peak, job
        assert 60 * ask(STUDY, rule, job)["runtime"] >= cpu, job


def test_every_rule_asks():
    rules = "".join(path.read_text() for path in (REPO / "workflow/rules").glob("*.smk"))
    asking = re.findall(r'\*\*asks\("(\w+)"', rules)
    assert sorted(asking) == sorted({rule for rule, _ in COSTS})
    assert len(asking) == len(re.findall(r"^ +shell:", rules, re.MULTILINE))
