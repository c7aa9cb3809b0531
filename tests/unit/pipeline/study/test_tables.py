"""Tables in config: numbers filled in, mistakes in one line, recipes."""

import json

import pytest
from tests.conftest import MISSING, changed, problems_of

from lssc.pipeline.study import recipes
from lssc.pipeline.study.load import load
from lssc.pipeline.study.results import folders_of


def test_numbers_of_points_and_classes_come_from_the_table(image_config):
    study = load(image_config)
    assert study.experiments["tabled"].ns == (12,)
    assert study.datasets["table"].n_clusters == 3
    for n in ("all", [12]):
        assert load(changed(image_config, "experiments.tabled.n", n)).experiments["tabled"].ns == (12,)


CASES = [
    ("datasets.table.generator.table", "tiny_tabel", "unknown table 'tiny_tabel'; did you mean 'tiny_table'?"),
    ("datasets.table.n_clusters", 2, "2 must be the number of classes, 3"),
    ("tables.tiny_table.reader", "txt", "unknown reader 'txt'; did you mean 'text'?"),
    (
        "tables.tiny_table.sources",
        [{"name": "pipy"}],
        "unknown source 'pipy'; known: debian, installed, npm",
    ),
    ("tables.tiny_table.columns", 1, "1 must be at least 2"),
    ("tables.tiny_table.counts", MISSING, "missing"),
    ("tables.tiny_table.sha256", {"x.dat": "0"}, "a SHA-256 has 64 digits 0-9 and a-f"),
    ("experiments.tabled.n", [13], "13 points requested from the 12 of table 'tiny_table'"),
    ("datasets.table.generator.dim", 4, "dim=4 of dataset 'table' must be at most 3, its points or columns"),
]


@pytest.mark.parametrize(("where", "value", "message"), CASES, ids=[case[0] for case in CASES])
def test_mistake_is_one_line(image_config, where, value, message):
    [line] = problems_of(changed(changed(image_config, "run", ["tabled"]), where, value))
    assert message in line


def test_table_and_images_of_one_id_are_refused(image_config):
    table = image_config["tables"]["tiny_table"]
    [line] = problems_of(changed(image_config, "tables.tiny", table))
    assert line == "config: tables.tiny: images have this id, too, and the same folder; use another"


def test_configs_from_before_there_were_tables_load(small_config):
    assert "tables" not in small_config
    assert load(small_config).tables == {}


def test_trials_are_drawn_from_the_points_of_the_table(image_config):
    study = load(image_config)
    assert recipes.features_of(study, "table") == ["data/tiny_table/points.h5"]
    assert [str(folder) for folder in folders_of(study, ["tabled"])] == ["results/small", "data"]


def test_fragment_has_the_tables_of_its_experiment_only(image_config):
    study = load(image_config)
    tables = {id: json.loads(recipes.fragment(study, id))["tables"] for id in ("tabled", "seen")}
    assert tables == {"tabled": image_config["tables"], "seen": {}}
