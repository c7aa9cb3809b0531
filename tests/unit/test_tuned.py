"""The parameters in config.yaml are the best of the sweep that config.yaml describes."""

import csv
import json
from pathlib import Path

import pytest
import yaml

from lssc.recipes import load
from lssc.tuning import best_settings

REPO = Path(__file__).parents[2]
STUDY = load(yaml.safe_load((REPO / "config/config.yaml").read_text()))
SWEEP = list(csv.DictReader((REPO / "docs/results/tuning/sweep.csv").open()))
BEST = {
    row["method"]: json.loads(row["setting"]) for row in best_settings(SWEEP, json.loads(STUDY.held_values("tuning")))
}
REPORTED = [STUDY.experiments[id] for id in ("landmarks", "points")]


def test_the_kept_table_is_of_the_sweep_in_config():
    swept = {(method.id, json.dumps(dict(method.setting))) for method in STUDY.experiments["tuning"].methods}
    assert swept == {(row["method"], row["setting"]) for row in SWEEP}


def test_every_reported_method_was_tuned():
    assert {method.id for experiment in REPORTED for method in experiment.methods} == set(BEST)


@pytest.mark.parametrize("id", BEST)
def test_config_holds_the_best_setting(id):
    own = {key: STUDY.methods[id].value(key) for key in BEST[id] if key != "dataset"}
    assert own == {key: value for key, value in BEST[id].items() if key != "dataset"}


@pytest.mark.parametrize("id", BEST)
def test_experiments_scale_the_points_as_suits_the_method(id):
    method = STUDY.methods[id]
    used = {experiment.dataset_of(method) for experiment in REPORTED if method in experiment.methods}
    assert used == {BEST[id]["dataset"]}


def test_tuning_shares_no_trial_with_the_reported_experiments():
    streams = {experiment.stream for experiment in REPORTED}
    assert STUDY.experiments["tuning"].stream not in streams
