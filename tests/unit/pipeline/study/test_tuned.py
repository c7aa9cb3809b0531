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
# The sweeps that chose the parameters of each experiment.
SWEEPS = {
    "landmarks": ("tuning", "tuning_lengths"),
    "points": ("tuning_points",),
    "mnist": ("mnist_tuning",),
}
# Sweeps run a cheaper method with the same result.
STANDS_FOR = {"ssc_admm": "ssc_admm_low_rank", "esc_unit": "esc"}
# Methods whose parameters come from one of the sweeps.
OF_ONE = {"esc_unit": ("tuning",)}
REPORTED = [(id, method) for id in SWEEPS for method in STUDY.experiments[id].methods]
every_method = pytest.mark.parametrize(
    ("experiment", "method"), REPORTED, ids=[f"{experiment}-{method.id}" for experiment, method in REPORTED]
)
every_sweep = pytest.mark.parametrize("sweep", [sweep for sweeps in SWEEPS.values() for sweep in sweeps])


def table(sweep):
    return list(csv.DictReader((REPO / f"docs/results/{sweep}/sweep.csv").open()))


def best(method, sweep):
    """Accuracy, setting and dataset of a method's best row in a sweep; None if it was not swept."""
    held = json.loads(recipes.held_values(STUDY, sweep))
    id = STANDS_FOR.get(method.id, method.id)
    for row in best_settings(table(sweep), held):
        if row["method"] == id:
            setting = json.loads(row["setting"])
            swept = next(m for m in STUDY.experiments[sweep].methods if m.id == id and dict(m.setting) == setting)
            return row["accuracy"], setting, STUDY.experiments[sweep].dataset_of(swept)
    return None


@every_sweep
def test_kept_table_has_the_settings_of_the_sweep_in_config(sweep):
    settings = {(method.id, json.dumps(dict(method.setting))) for method in STUDY.experiments[sweep].methods}
    assert settings == {(row["method"], row["setting"]) for row in table(sweep)}


@every_method
def test_config_has_the_best_setting_of_the_sweeps(experiment, method):
    sweeps = OF_ONE.get(method.id, SWEEPS[experiment])
    choices = [choice for sweep in sweeps if (choice := best(method, sweep))]
    assert choices
    _, setting, dataset = max(choices, key=lambda choice: choice[0])
    params = {key: value for key, value in setting.items() if key != "dataset"}
    assert {key: method.value(key) for key in params} == params
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
def test_variants_share_the_other_parameters(variant, method):
    keys = ("lam", "alpha", "scale_rows", "n_init")
    assert [STUDY.methods[variant].value(key) for key in keys] == [STUDY.methods[method].value(key) for key in keys]
