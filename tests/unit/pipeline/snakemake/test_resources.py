"""Requests of jobs, compared with what all jobs of the full run used (`docs/results/jobs.csv`)."""

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
    LEAST_MINUTES,
    SNAKEMAKE_MB,
    TIME_MARGIN,
    Limits,
    expected_seconds,
    group_minutes,
    request,
    seconds,
)
from lssc.pipeline.study.load import load
from lssc.pipeline.study.steps import STEPS, step_of

REPO = Path(__file__).parents[4]
CONFIG = yaml.safe_load((REPO / "config/config.yaml").read_text())
STUDY = load(CONFIG)
jobs_module = SimpleNamespace(**runpy.run_path(str(REPO / "docs/jobs.py")))
with (REPO / "docs/results/jobs.csv").open() as table:
    JOBS = [{key: value for key, value in row.items() if value} for row in csv.DictReader(table)]
RULES = sorted({job["rule"] for job in JOBS})
ADMM = {"dataset": "synthetic", "n": "4000", "m": "4000", "selector": "all", "coder": "admm.alpha=10"}


def memory(study, rule, wildcards):
    """The request without the share of Snakemake."""
    return request(study, rule, wildcards)["mem_mb"] - SNAKEMAKE_MB


def test_table_has_the_jobs_of_config():
    expected = [*jobs_module.with_facts(STUDY).values(), *jobs_module.without_facts(STUDY).values()]
    measured = [{key: value for key, value in job.items() if key not in ("cpu_seconds", "peak_mb")} for job in JOBS]
    by_items = [sorted(sorted(job.items()) for job in jobs) for jobs in (measured, expected)]
    assert by_items[0] == by_items[1], "run `make keep`"


@pytest.mark.parametrize("rule", RULES)
def test_first_request_suffices_and_is_not_wasteful(rule):
    for job in (job for job in JOBS if job["rule"] == rule):
        amounts, peak = request(STUDY, rule, job), float(job["peak_mb"])
        assert SNAKEMAKE_MB + peak <= amounts["mem_mb"] <= 3 * (SNAKEMAKE_MB + peak), job
        assert 60 * amounts["runtime"] >= float(job["cpu_seconds"]), job
        assert amounts["runtime"] <= max(LEAST_MINUTES, 20 * float(job["cpu_seconds"]) / 60), job


def test_expected_seconds_are_of_use_for_the_time_left():
    measured = {rule: sum(float(job["cpu_seconds"]) for job in JOBS if job["rule"] == rule) for rule in RULES}
    expected = {rule: sum(seconds(STUDY, rule, job) for job in JOBS if job["rule"] == rule) for rule in RULES}
    assert 0.5 < sum(expected.values()) / sum(measured.values()) < 2
    long = [rule for rule in RULES if measured[rule] > 0.05 * sum(measured.values())]
    assert len(long) >= 4
    assert all(0.5 < expected[rule] / measured[rule] < 3 for rule in long)


@pytest.mark.parametrize("experiment", ["scale", "ten_million"])
def test_memory_of_many_points(experiment):
    config = merge_configs(CONFIG, yaml.safe_load((REPO / "config/scale.yaml").read_text()))
    study = load({**config, "run": [experiment]})
    with (REPO / f"docs/results/{experiment}/scores.csv").open() as table:
        rows = {(row["method"], int(row["n"]), int(row["trial"])): row for row in csv.DictReader(table)}
    for run in study.experiments[experiment].runs():
        row = rows[run.method.id, run.n, run.block.first]
        for step in (step_of(part.kind) for part in run.method.parts):
            peak, path = float(row[f"{step.verb}_peak_mb"]), study.paths.artifact(step.makes)
            wildcards = {key: value for key, value in run.wildcards.items() if f"{{{key}}}" in path}
            assert peak <= memory(study, step.rule, wildcards) <= 3 * (SNAKEMAKE_MB + peak), (run, step)


@pytest.mark.parametrize("rule", RULES)
def test_every_attempt_requests_twice_as_much(rule):
    job = next(job for job in JOBS if job["rule"] == rule)
    first, third = request(STUDY, rule, job), request(STUDY, rule, job, 3)
    assert third == {name: 4 * amount for name, amount in first.items()}


def test_limits_of_a_cluster():
    job = {**ADMM, "block": "t00-19"}
    limits = Limits(slower=2, max_runtime=600, max_mem_mb=5000)
    assert request(STUDY, "code_points", job, 4, limits) == {"mem_mb": 5000, "runtime": 600}
    slower = request(STUDY, "code_points", job, 3, Limits(slower=2))["runtime"]
    assert slower == pytest.approx(2 * request(STUDY, "code_points", job, 3)["runtime"], rel=0.05)
    assert group_minutes([1e6], 1, limits) == 600


def test_groups_request_one_start_and_the_sum_of_their_members():
    few, many = group_minutes([1.0] * 10), group_minutes([1.0] * 100)
    assert LEAST_MINUTES < few < 2 * LEAST_MINUTES
    assert 10 * (few - LEAST_MINUTES) - 10 <= many - LEAST_MINUTES <= 10 * (few - LEAST_MINUTES)
    assert 4 * 60 * TIME_MARGIN < group_minutes([3600.0] * 4) < 4 * 60 * TIME_MARGIN + 2 * LEAST_MINUTES
    assert group_minutes([3600.0] * 4, 2) == 2 * group_minutes([3600.0] * 4)


def test_trials_add_up_in_time_but_not_in_memory():
    few, many = (request(STUDY, "code_points", {**ADMM, "block": block}) for block in ("t00-01", "t00-19"))
    assert many["mem_mb"] == few["mem_mb"]
    assert many["runtime"] == pytest.approx(10 * few["runtime"], rel=0.1)


def test_requests_stay_possible_for_extreme_parameters():
    job = {**ADMM, "n": "999999999", "m": "999999999", "block": "t00-99999"}
    assert request(STUDY, "code_points", job) == {"mem_mb": Limits().max_mem_mb, "runtime": Limits().max_runtime}
    assert expected_seconds(STUDY, "code_points", job) <= 60 * Limits().max_runtime


def test_steps_without_measured_jobs_have_a_default(small_config):
    small_config["methods"]["fsc"]["refiner"] = {"name": "subspaces", "dim": 2}
    small_config["methods"]["whole"] = {"label": "Whole", "method": "kmeans"}
    small_config["experiments"]["grid"] = {**small_config["experiments"]["grid"], "methods": ["fsc", "whole"]}
    small_config["experiments"]["grid"].pop("overrides")
    study = load(small_config)
    for run in study.experiments["grid"].runs():
        for step in (step_of(part.kind) for part in run.method.parts):
            assert SNAKEMAKE_MB + 300 < request(study, step.rule, run.wildcards)["mem_mb"] < 1000
            assert 0 < seconds(study, step.rule, run.wildcards) < 10


@pytest.mark.parametrize("step", [step for step in STEPS if step.rule in RULES], ids=lambda step: step.rule)
def test_a_part_without_a_class_gets_a_sensible_default(step, monkeypatch):
    # Except n x n matrices and n^3 operations, the default suffices for every known part.
    beyond = {"admm", "kmedoids_full", "fasterpam", "explicit"}
    monkeypatch.setattr(resources, "PARTS", {})
    for job in (job for job in JOBS if job["rule"] == step.rule):
        if STUDY.parts[step.kind, job[step.kind]].name not in beyond:
            assert memory(STUDY, step.rule, job) >= float(job["peak_mb"]), job
            assert 60 * request(STUDY, step.rule, job)["runtime"] >= float(job["cpu_seconds"]), job


def test_every_rule_requests_its_resources():
    rules = "".join(path.read_text() for path in (REPO / "workflow/rules").glob("*.smk"))
    requesting = re.findall(r'\*\*requests\("(\w+)"', rules)
    assert set(RULES) <= set(requesting)
    assert len(requesting) == len(re.findall(r"^ +shell:", rules, re.MULTILINE))


def test_k_fsc_is_expected_to_take_less_time_with_batches_or_landmarks(small_config):
    variants = ("full", "minibatch", "landmarks")
    small_config["methods"] = {v: {"label": v, "method": {"name": "kfsc", "variant": v}} for v in variants}
    grid = {**small_config["experiments"]["grid"], "methods": list(variants), "n": [60_000]}
    small_config["experiments"] = {"grid": {key: value for key, value in grid.items() if key != "overrides"}}
    study = load(small_config)
    spent = {run.method.id: seconds(study, "apply_method", run.wildcards) for run in study.experiments["grid"].runs()}
    assert spent["minibatch"] < spent["full"] / 5
    assert spent["landmarks"] < spent["full"] / 5
