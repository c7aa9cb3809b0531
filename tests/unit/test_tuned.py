"""The parameters in config.yaml are the best of the sweeps that config.yaml describes."""

import csv
import json
from pathlib import Path

import pytest
import yaml

from lssc.recipes import load
from lssc.tuning import best_settings

REPO = Path(__file__).parents[2]
STUDY = load(yaml.safe_load((REPO / "config/config.yaml").read_text()))
# Sweep -> the experiments that report what it chose.
REPORTED = {
    "tuning": ("landmarks",),
    "tuning_admm": ("landmarks",),
    "tuning_points": ("points",),
    "mnist_tuning": ("mnist",),
}
# The same method, computed in a way that a sweep can afford.
STANDS_FOR = {"ssc_admm": "ssc_admm_low_rank"}
# Not chosen by a sweep: the number of atoms that the method's authors publish for these images.
PUBLISHED = {("mnist_tuning", "ssc_omp")}


def table(sweep):
    return list(csv.DictReader((REPO / f"docs/results/{sweep}/sweep.csv").open()))


def swept(method, sweep):
    """The id that a method of an experiment has in a sweep."""
    return STANDS_FOR.get(method.id, method.id) if STANDS_FOR.get(method.id) in methods_of(sweep) else method.id


def methods_of(experiment):
    return {method.id for method in STUDY.experiments[experiment].methods}


def best(sweep):
    rows = best_settings(table(sweep), json.loads(STUDY.held_values(sweep)))
    return {row["method"]: json.loads(row["setting"]) for row in rows}


CHOSEN = [
    (sweep, experiment, method)
    for sweep, experiments in REPORTED.items()
    for experiment in experiments
    for method in STUDY.experiments[experiment].methods
    if swept(method, sweep) in methods_of(sweep) and (sweep, method.id) not in PUBLISHED
]
every_choice = pytest.mark.parametrize(
    ("sweep", "experiment", "method"), CHOSEN, ids=[f"{experiment}-{method.id}" for _, experiment, method in CHOSEN]
)


def test_every_reported_method_was_tuned_once():
    reported = {(id, method.id) for ids in REPORTED.values() for id in ids for method in STUDY.experiments[id].methods}
    chosen = [(experiment, method.id) for _, experiment, method in CHOSEN]
    assert sorted(chosen) == sorted(reported - {("mnist", "ssc_omp")})


@pytest.mark.parametrize("sweep", REPORTED)
def test_the_kept_table_is_of_the_sweep_in_config(sweep):
    settings = {(method.id, json.dumps(dict(method.setting))) for method in STUDY.experiments[sweep].methods}
    assert settings == {(row["method"], row["setting"]) for row in table(sweep)}


@every_choice
def test_experiments_hold_the_best_setting(sweep, experiment, method):
    wanted = {key: value for key, value in best(sweep)[swept(method, sweep)].items() if key != "dataset"}
    assert {key: method.value(key) for key in wanted} == wanted


@every_choice
def test_experiments_use_the_points_that_suit_the_method(sweep, experiment, method):
    tuned = STUDY.experiments[sweep]
    choice = next(
        m
        for m in tuned.methods
        if m.id == swept(method, sweep) and dict(m.setting) == best(sweep)[swept(method, sweep)]
    )
    assert STUDY.experiments[experiment].dataset_of(method) == tuned.dataset_of(choice)


@pytest.mark.parametrize("sweep", REPORTED)
def test_sweeps_share_no_trial_with_the_reported_experiments(sweep):
    assert STUDY.experiments[sweep].stream not in {STUDY.experiments[id].stream for id in REPORTED[sweep]}


@pytest.mark.parametrize(
    ("variant", "method"),
    [
        ("fsc_uniform_self", "fsc_uniform"),
        ("fsc_uniform_explicit", "fsc_uniform"),
        ("fsc_alternation", "fsc_nonuniform"),
        ("fsc_sample", "fsc_nonuniform"),
        ("ssc_admm_low_rank", "ssc_admm"),
        ("ssc_admm_modified_plain", "ssc_admm_modified"),
    ],
)
def test_a_variant_differs_in_one_thing_only(variant, method):
    keys = ("lam", "alpha", "scale_rows", "n_init")
    assert [STUDY.methods[variant].value(key) for key in keys] == [STUDY.methods[method].value(key) for key in keys]
