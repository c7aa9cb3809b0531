"""The parameters in config.yaml are the best of the sweeps that config.yaml describes."""

import csv
import json
from pathlib import Path

import pytest
import yaml

from lssc.pipeline.study import recipes
from lssc.pipeline.study.load import load
from lssc.report.sweeps import best_settings

REPO = Path(__file__).parents[4]
STUDY = load(yaml.safe_load((REPO / "config/config.yaml").read_text()))
# Experiment -> the sweeps that chose what it reports.
SWEEPS = {
    "landmarks": ("tuning", "tuning_lengths"),
    "points": ("tuning_points",),
    "mnist": ("mnist_tuning",),
}
# The same method, computed in a way that a sweep can afford.
STANDS_FOR = {"ssc_admm": "ssc_admm_low_rank", "esc_unit": "esc"}
# The best of one sweep alone.
OF_ONE = {"esc_unit": ("tuning",)}
REPORTED = [(id, method) for id in SWEEPS for method in STUDY.experiments[id].methods]
every_method = pytest.mark.parametrize(
    ("experiment", "method"), REPORTED, ids=[f"{experiment}-{method.id}" for experiment, method in REPORTED]
)
every_sweep = pytest.mark.parametrize("sweep", [sweep for sweeps in SWEEPS.values() for sweep in sweeps])


def table(sweep):
    return list(csv.DictReader((REPO / f"docs/results/{sweep}/sweep.csv").open()))


def best(method, sweep):
    """The row of a sweep that speaks for a method, with its parameters and dataset; None if it was not swept."""
    held = json.loads(recipes.held_values(STUDY, sweep))
    id = STANDS_FOR.get(method.id, method.id)
    for row in best_settings(table(sweep), held):
        if row["method"] == id:
            setting = json.loads(row["setting"])
            swept = next(m for m in STUDY.experiments[sweep].methods if m.id == id and dict(m.setting) == setting)
            return row["accuracy"], setting, STUDY.experiments[sweep].dataset_of(swept)
    return None


@every_sweep
def test_the_kept_table_is_of_the_sweep_in_config(sweep):
    settings = {(method.id, json.dumps(dict(method.setting))) for method in STUDY.experiments[sweep].methods}
    assert settings == {(row["method"], row["setting"]) for row in table(sweep)}


@every_method
def test_a_reported_method_holds_the_best_setting_of_all_its_sweeps(experiment, method):
    sweeps = OF_ONE.get(method.id, SWEEPS[experiment])
    found = [choice for sweep in sweeps if (choice := best(method, sweep))]
    assert found
    _, setting, dataset = max(found, key=lambda choice: choice[0])
    wanted = {key: value for key, value in setting.items() if key != "dataset"}
    assert {key: method.value(key) for key in wanted} == wanted
    assert STUDY.experiments[experiment].dataset_of(method) == dataset


@every_sweep
def test_sweeps_share_no_trial_with_the_reported_experiments(sweep):
    assert STUDY.experiments[sweep].stream not in {STUDY.experiments[id].stream for id in SWEEPS}


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
