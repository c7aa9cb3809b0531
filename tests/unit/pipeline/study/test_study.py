import json
import math
import re
from pathlib import Path

import pytest
from tests.conftest import MISSING, REPO, changed, problems_of

from lssc.errors import ConfigError
from lssc.pipeline.study import recipes, results, sizes
from lssc.pipeline.study.load import load
from lssc.pipeline.study.model import Part
from lssc.pipeline.study.paths import WILDCARDS


def runs_of(study, experiments=None):
    return [run.wildcards for id in experiments or study.run for run in study.experiments[id].runs()]


# Said of text that looks like what is wanted.
NESTED = ", not text: write nested values without quotes, in a file for --configfile"
ERRORS = [
    # where, value, the one line it gives; {at} is where
    ("experiments.grid.methods", ["fsc", "escc"], "{at}: unknown method 'escc'; did you mean 'esc'?"),
    ("experiments.line.figures.fig.methods", ["nix"], "{at}: unknown method 'nix'; known: esc, fsc, omp"),
    ("experiments.grid.overrides", {"nix": {"trials": 1}}, "{at}: unknown method 'nix'; known: esc, fsc, omp"),
    ("experiments.grid.dataset", "plan", "{at}: unknown dataset 'plan'; did you mean 'plain'?"),
    ("experiments.grid.overrides.esc.dataset", "rav", "{at}: unknown dataset 'rav'; did you mean 'raw'?"),
    ("run", ["gridd"], "{at}: unknown experiment 'gridd'; did you mean 'grid'?"),
    ("methods.fsc.selector", "unifrom", "{at}: unknown selector 'unifrom'; did you mean 'uniform'?"),
    ("methods.fsc.coder.name", "lassso", "methods.fsc.coder: unknown coder 'lassso'; did you mean 'lasso'?"),
    ("datasets.raw.generator", "synthetics", "{at}: unknown dataset 'synthetics'; did you mean 'synthetic'?"),
    ("datasets.raw.generator.nois", 1, "{at}: unknown parameter of dataset 'synthetic'; did you mean 'noise'?"),
    ("methods.fsc.coder.lamb", 3, "{at}: unknown parameter of coder 'lasso'; did you mean 'lam'?"),
    ("methods.fsc.coder", "lasso", "methods.fsc.coder.lam: missing; coder 'lasso' needs it"),
    ("methods.fsc.coder.lam", -1, "{at}: -1 must be greater than 0"),
    ("methods.fsc.coder.lam", "10", "{at}: '10' must be a finite number" + NESTED),
    ("methods.fsc.coder.lam", "0.5e-3", "{at}: '0.5e-3' must be a finite number" + NESTED),
    ("methods.fsc.coder.lam", "ten", "{at}: 'ten' must be a finite number"),
    ("methods.esc.coder.exclude_self", "true", "{at}: 'true' must be true or false" + NESTED),
    ("methods.fsc.coder.lam", True, "{at}: True must be a finite number"),
    ("methods.fsc.coder.lam", math.nan, "{at}: nan must be a finite number"),
    ("methods.esc.coder.exclude_self", "no", "{at}: 'no' must be true or false"),
    ("methods.omp.coder.k", 2.5, "{at}: 2.5 must be a whole number"),
    ("methods.omp.coder.k", 0, "{at}: 0 must be at least 1"),
    ("methods.omp.coder.k", 30, "{at}: 30 must be below m=30 in experiments.grid"),
    ("methods.esc.embedder.t", 30, "{at}: 30 must be below n=30 in experiments.grid"),
    (
        "methods.fsc.embedder",
        {"name": "landmark_svd", "solver": "qr"},
        "methods.fsc.embedder.solver: 'qr' must be one of 'auto', 'gram', 'svd'",
    ),
    ("datasets.raw.generator.subspace_dim", 17, "{at}: 17 must be at most ambient_dim=16"),
    ("experiments.grid.m", [6, 45], "{at}: 45 landmarks requested from n=30 points; need m <= n"),
    ("experiments.grid.m", [2, 6], "{at}: 2 landmarks for n_clusters=3; need m >= n_clusters"),
    ("experiments.grid.n", [30, 61], "{at}: 61 must be a multiple of n_clusters=3"),
    ("experiments.grid.n", [30, 0], "experiments.grid.n.1: 0 must be at least 1"),
    ("experiments.grid.n", [], "{at}: [] must not be empty"),
    ("experiments.grid.n", 30, "{at}: 30 must be a list"),
    ("experiments.grid.n", [30, 30], "{at}: [30, 30] must not repeat a value"),
    ("experiments.grid.n", [True], "experiments.grid.n.0: true must be a whole number"),
    ("experiments.grid.trials", 0, "{at}: 0 must be at least 1"),
    ("experiments.grid.trials", "3", '{at}: "3" must be a whole number' + NESTED),
    ("experiments.grid.trials", "three", '{at}: "three" must be a whole number'),
    ("experiments.grid.n", ["30"], '{at}.0: "30" must be a whole number' + NESTED),
    ("datasets.plain.unit_norm", "true", '{at}: "true" must be true or false' + NESTED),
    ("experiments.grid.overrides.esc.trials", 0, "{at}: 0 must be at least 1"),
    (
        "experiments.line.figures.fig.y",
        "speed",
        '{at}: "speed" must be one of accuracy, nmi, ari, seconds, cpu_seconds',
    ),
    ("experiments.grid.methods", MISSING, "{at}: missing; name the methods to run, or a sweep"),
    ("experiments.grid.trials", MISSING, "{at}: missing"),
    ("experiments.grid.trial", 3, "{at}: unknown key; did you mean 'trials'?"),
    ("experiments.sweeping.sweep.fsc.lamb", [1], "{at}: no part of the method has it; did you mean 'lam'?"),
    ("experiments.sweeping.sweep.fsc.lam", [5, -5], "{at}: -5 must be greater than 0"),
    ("experiments.sweeping.sweep.fsc.lam", [], "{at}: [] must not be empty"),
    ("experiments.sweeping.sweep.omp", {}, "{at}: {{}} must not be empty"),
    ("experiments.sweeping.sweep.fsc.lam", [10, 10], "{at}: [10, 10] must not repeat a value"),
    ("experiments.sweeping.sweep.fsc.lam", [10, 10.0], "{at}: [10, 10.0] must not repeat a value"),
    ("experiments.sweeping.sweep.fsc.dataset", ["raw", "raw"], '{at}: ["raw", "raw"] must not repeat a value'),
    ("experiments.sweeping.sweep.fsc.dataset", ["plaid"], "{at}: unknown dataset 'plaid'; did you mean 'plain'?"),
    (
        "experiments.sweeping.sweep.nix",
        {"lam": [1]},
        "experiments.sweeping.sweep: unknown method 'nix'; known: esc, fsc, omp",
    ),
    ("datasets.plain.unit_norm", "yes", '{at}: "yes" must be true or false'),
    ("datasets.plain.generator", 5, "{at}: 5 must be a name, or a mapping with a name and parameters"),
    ("methods.fsc.coder", {"lam": 10}, '{at}: {{"lam": 10}} must be a name, or a mapping with a name and parameters'),
    ("methods.fsc.label", "", '{at}: "" must not be empty'),
    ("methods.fsc.refinr", "x", "{at}: unknown key; known: clusterer, coder, embedder, label, method, selector"),
    ("methods.fsc.clusterer", {"name": "kmeans", "n_init": 0}, "{at}.n_init: 0 must be at least 1"),
    ("methods.fsc.clusterer", {"name": "kmeans", "n_init": 10**9}, "{at}.n_init: 1000000000 must be at most 100,000"),
    ("block", 0, "{at}: 0 must be at least 1"),
    ("seed", -1, "{at}: -1 must be at least 0"),
    ("seed", MISSING, "{at}: missing"),
    ("methods", [], "{at}: [] must be a mapping"),
    ("methodz", {}, "{at}: unknown key; did you mean 'methods'?"),
]


@pytest.mark.parametrize(("where", "value", "line"), ERRORS, ids=[f"{e[0]}={e[1]}"[:70] for e in ERRORS])
def test_a_mistake_is_told_in_one_line_with_key_value_and_remedy(small_config, where, value, line):
    assert problems_of(changed(small_config, where, value)) == [f"config: {line.format(at=where)}"]


@pytest.mark.parametrize("name", ["FSC", "9lives", "a-b", "a b", "", "é", "..", "a.b", "a/../../x"])
@pytest.mark.parametrize("table", ["images", "datasets", "methods", "experiments"])
def test_a_bad_id_is_told_with_what_is_allowed(image_config, table, name):
    entry = next(iter(image_config[table].values()))
    lines = problems_of(changed(image_config, [table, name], entry))
    assert len(lines) == 1
    assert lines[0].startswith(f"config: {table}: {name!r} is not allowed; use lower-case letters")


def test_all_mistakes_of_a_kind_are_told_at_once(small_config):
    config = changed(changed(small_config, "methods.fsc.coder.lam", -1), "methods.esc.selector.lam", 0)
    assert len(problems_of(config)) == 2


def test_the_extremes_that_still_make_sense_are_allowed(small_config):
    config = changed(small_config, "experiments.grid.m", [3, 30])
    config = changed(changed(config, "methods.esc.embedder.t", 29), "methods.omp.coder.k", 29)
    load(changed(config, "experiments.grid.trials", 1))


def test_sizes_are_checked_for_the_experiments_that_run_or_are_asked_for(small_config):
    config = changed(small_config, "experiments.sweeping.m", [999])
    study = load(config)
    sizes.require_sizes(study, "line")
    with pytest.raises(ConfigError, match=r"^config: experiments.sweeping.m: 999 landmarks requested from n=30 .*$"):
        sizes.require_sizes(study, "sweeping")
    assert len(problems_of(changed(config, "run", ["grid", "sweeping"]))) == 1


def test_a_figure_over_m_shows_one_n_only(small_config):
    config = changed(changed(small_config, "experiments.line.n", [30, 60]), "run", ["line"])
    wanted = "over m it can show one n only; give experiments.line.n one value"
    assert problems_of(config) == [f"config: experiments.line.figures.fig: {wanted}"]


def test_an_experiment_is_a_comparison_or_a_sweep_not_both(small_config):
    lines = problems_of(changed(small_config, "experiments.sweeping.methods", ["fsc"]))
    assert lines == ["config: experiments.sweeping: needs either methods or a sweep of some, not both"]


def test_a_held_value_must_be_among_those_swept(small_config):
    lines = problems_of(changed(small_config, "experiments.sweeping.sweep.fsc.scale_rows", [True]))
    at = "config: experiments.sweeping.sweep.fsc.scale_rows"
    assert lines == [f"{at}: held at False, which must be among the values"]


def test_a_figure_without_any_method_of_its_experiment_is_not_drawn(small_config):
    study = load(changed(small_config, "experiments.line.methods", ["esc"]))
    assert [Path(path).name for path in results.figures_of(study, "line")] == ["stages.pdf", "stages.png", "stages.csv"]


def test_runtimes_by_stage_are_drawn_for_every_experiment_but_sweeps(small_config):
    assert [id for id in load(small_config).experiments if results.figures_of(load(small_config), id)] == [
        "grid",
        "line",
    ]


def test_no_figure_may_have_the_name_of_the_runtimes_by_stage(small_config):
    config = changed(small_config, "experiments.line.figures.stages", {"x": "m", "y": "accuracy"})
    [line] = problems_of(changed(config, "run", ["line"]))
    assert line.startswith("config: experiments.line.figures.stages: the name of the figure of runtimes by step")


def test_a_sweep_with_figures_is_refused(small_config):
    config = changed(small_config, "experiments.sweeping.figures", {"f": {"x": "m", "y": "accuracy"}})
    lines = problems_of(changed(config, "run", ["sweeping"]))
    assert len(lines) == 1
    assert lines[0].startswith("config: experiments.sweeping.figures.f: a sweep draws its own figure")


@pytest.mark.parametrize("config", [None, [], "x", {}])
def test_something_that_is_no_config_is_refused(config):
    assert problems_of(config)


GAPS = [
    ("datasets.raw.generator.ambient_dim", 3),  # below the default of subspace_dim
    ("experiments.grid.trials", 3.0),
    ("experiments.grid.n", [30.0]),
    ("block", 2.0),
    ("datasets.plain.n_clusters", 3.0),
    ("methods.fsc.coder.lam", 10**400),
    ("experiments.sweeping.sweep.fsc.dataset", [["plain"]]),
    ("experiments.grid.stream", "t\n"),
    ("results", "results\n"),
    ("experiments.sweeping.held", ["scale_row"]),
    ("datasets.raw.generator.ambient_dim", 10**6),
    ("experiments.grid.trials", 10**6),  # millions of runs
    ("experiments.grid.trials", 10**12),
    ("experiments.grid.n", [3 * 10**12]),
    ("experiments.grid.m", list(range(3, 30_000))),
    ("experiments.sweeping.sweep.omp", {key: list(range(1, 1000)) for key in ("k", "n_init", "max_iter")}),
    ("experiments.line.figures", {f"f{i}": {"x": "m", "y": "nmi"} for i in range(101)}),
    ("methods.fsc.label", "x" * 201),
    ("methods.fsc.label", "two\nlines"),
    ("methods.fsc.label", "\ud800"),
    ("experiments.grid.title", "x" * 201),
    ("experiments.grid.stream", "t" * 101),
    ("seed", 2**63),
]


@pytest.mark.parametrize(
    ("where", "value"),
    [pytest.param(*gap, id=f"{gap[0]}={gap[1]!r:.20}") for gap in GAPS],
)
def test_what_would_fail_in_a_job_is_refused_before(small_config, where, value):
    assert len(problems_of(changed(small_config, where, value))) == 1


FOLDERS = {
    "..": "is or holds the working folder",
    ".": "is or holds the working folder",
    "../../..": "is or holds the working folder",
    "/": "is not allowed",
    "": "is not allowed",
    "-rf": "is not allowed",
    "a b": "is not allowed",
    "$(touch pwned)": "is not allowed",
    "{n}": "is not allowed",
    "a//b": "is not allowed",
    "~/x": "is not allowed",
    "x" * 101: "is not allowed",
    "x/" * 260: "must have at most 500 characters",
    str(REPO / "workflow/lssc"): "lies in the code of the workflow",
    "data": "must not lie in each other",
    "data/x": "must not lie in each other",
    "data/../data/": "must not lie in each other",
}


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_that_results_would_share_is_refused(small_config, tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    [line] = problems_of(changed(small_config, "results", folder))
    assert line.startswith("config: results: ")
    assert FOLDERS[folder] in line


@pytest.mark.parametrize("folder", ["../elsewhere", "/scratch/me/results", "./here/", "database", "a.b-c_d/..e"])
def test_any_other_folder_is_up_to_the_user(small_config, tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    study = load(changed(small_config, "results", folder))
    inside = Path(folder).resolve()
    assert all(Path(path).resolve().is_relative_to(inside) for path in results.results_of(study, "grid"))


def test_a_long_id_has_no_file_to_fit(small_config):
    small_config["experiments"]["x" * 101] = small_config["experiments"]["grid"]
    [line] = problems_of(small_config)
    assert line.endswith("use lower-case letters, digits and _, starting with a letter, at most 100")


def test_what_one_job_could_not_be_told_is_refused(small_config):
    config = changed(small_config, "experiments.line", {**small_config["experiments"]["line"], "trials": 1000})
    assert load(changed(config, "experiments.line.block", 100))
    config = changed(config, "experiments.line.compare", ["fsc", "esc"])
    [line] = problems_of(changed(config, "experiments.line.block", 1))
    assert line == "config: experiments.line.compare: too long for the command of one job; use larger blocks"


def test_of_a_great_many_problems_the_first_are_told(small_config):
    config = changed(small_config, "experiments.grid.n", list(range(31, 151)))
    lines = problems_of(config)
    assert len(lines) == 51
    assert lines[-1].startswith("config: and ")


@pytest.mark.parametrize("change", [{"coder": {"name": "admm", "alpha": 20}}, {"embedder": "affinity"}])
def test_a_part_that_needs_all_points_is_refused_with_fewer_landmarks(small_config, change):
    small_config["methods"]["odd"] = {**small_config["methods"]["fsc"], **change}
    assert len(problems_of(changed(small_config, "experiments.grid.methods", ["odd"]))) == 1


def test_an_experiment_without_any_run_is_refused(small_config):
    config = changed(small_config, "experiments.sweeping.sweep", {})
    assert problems_of(changed(config, "run", ["sweeping"]))


@pytest.mark.parametrize(
    ("entry", "slug"),
    [
        ("uniform", "uniform"),
        ({"name": "kmedoids", "metric": "cityblock"}, "kmedoids"),
        ({"name": "kmedoids", "metric": "cosine", "max_iter": 7}, "kmedoids.max_iter=7+metric=cosine"),
        ({"name": "farthest_first", "lam": 10}, "farthest_first.lam=10"),
        ({"name": "farthest_first", "lam": 10.0}, "farthest_first.lam=10"),
        ({"name": "farthest_first", "lam": 2.5}, "farthest_first.lam=2.5"),
        ({"name": "farthest_first", "lam": 1e-7}, "farthest_first.lam=1e-07"),
        ({"name": "farthest_first", "lam": 1e20}, "farthest_first.lam=1e+20"),
    ],
)
def test_a_slug_tells_the_parameters_that_are_not_at_their_defaults(entry, slug):
    part = Part.of("selector", entry)
    assert part.slug == slug
    assert re.fullmatch(WILDCARDS["selector"], slug)


def test_slugs_write_booleans_in_small_letters_and_sort_parameters():
    part = Part.of("coder", {"name": "lasso", "lam": 3, "exclude_self": False})
    assert part.slug == "lasso.exclude_self=false+lam=3"
    assert part.params == {"lam": 3.0, "exclude_self": False, "precision": "double"}
    assert part.with_params({"lam": 5, "t": 3}).params["lam"] == 5.0


def test_whole_numbers_become_floats_where_the_parameter_is_one(small_config):
    study = load(small_config)
    recipe = json.loads(recipes.part_recipe(study, "coder", "lasso.lam=10", 30, "t00-01"))
    assert recipe == {
        "seed": 1,
        "n": 30,
        "block": "t00-01",
        "part": {
            "kind": "coder",
            "name": "lasso",
            "params": {"lam": 10.0, "exclude_self": True, "precision": "double"},
        },
    }
    assert "10.0" in recipes.part_recipe(study, "coder", "lasso.lam=10", 30, "t00-01")


def test_the_grid_has_a_run_for_every_method_size_and_block(small_config):
    runs = list(load(small_config).experiments["grid"].runs())
    fsc = {(run.n, run.m, str(run.block), run.dataset) for run in runs if run.method.id == "fsc"}
    assert fsc == {(n, m, b, "plain") for n in (30, 60) for m in (6, 9) for b in ("t00-01", "t02-02")}
    esc = {(run.n, run.m, str(run.block), run.dataset) for run in runs if run.method.id == "esc"}
    assert esc == {(n, m, "t00-00", "raw") for n in (30, 60) for m in (6, 9)}


def test_a_full_data_method_runs_once_for_the_whole_grid_of_m(small_config):
    runs = [run for run in load(small_config).experiments["grid"].runs() if run.method.id == "omp"]
    assert sorted((run.n, run.m, str(run.block)) for run in runs) == [
        (30, 30, "t00-01"), (30, 30, "t02-02"), (60, 60, "t00-01"), (60, 60, "t02-02"),
    ]  # fmt: skip


def test_a_sweep_has_a_run_for_every_combination(small_config):
    methods = load(small_config).experiments["sweeping"].methods
    fsc = [dict(method.setting) for method in methods if method.id == "fsc"]
    assert len(fsc) == 2 * 2 * 2
    assert {"dataset": "raw", "lam": 5, "scale_rows": True} in fsc
    swept = next(m for m in methods if m.setting == {"dataset": "raw", "lam": 5, "scale_rows": True})
    assert (swept.value("coder.lam"), swept.value("embedder.scale_rows")) == (5.0, True)
    assert swept.value("lam") == 5.0
    assert swept.value("nothing") is None


def test_a_swept_parameter_reaches_every_part_that_has_it(small_config):
    config = changed(small_config, "experiments.sweeping.sweep", {"esc": {"lam": [7], "scale_rows": [True]}})
    method = load(config).experiments["sweeping"].methods[0]
    assert (method.value("selector.lam"), method.value("coder.lam")) == (7.0, 7.0)


def test_held_values_are_the_methods_own(small_config):
    assert json.loads(recipes.held_values(load(small_config), "sweeping")) == {
        "fsc": {"scale_rows": False},
        "omp": {"scale_rows": True},
    }


def test_methods_that_share_a_stage_share_its_path(small_config):
    small_config["methods"]["two"] = {**small_config["methods"]["fsc"], "embedder": "landmark_svd", "label": "Two"}
    small_config["methods"]["two"]["coder"] = {"name": "lasso", "lam": 11}
    config = changed(small_config, "experiments.grid.methods", ["fsc", "two"])
    study = load(config)
    one, two = (
        {
            study.paths.artifact("landmarks").format(**r.wildcards)
            for r in study.experiments["grid"].runs()
            if r.method.id == id
        }
        for id in ("fsc", "two")
    )
    assert one == two


@pytest.mark.parametrize("experiment", ["grid", "sweeping"])
def test_a_fragment_is_a_config_that_gives_the_same_runs(small_config, experiment):
    study = load(small_config)
    part = load(json.loads(recipes.fragment(study, experiment)))
    assert part.run == (experiment,)
    assert runs_of(part, [experiment]) == runs_of(study, [experiment])
    assert part.paths == study.paths


def test_a_fragment_does_not_change_with_what_its_experiment_does_not_use(small_config):
    before = recipes.fragment(load(small_config), "sweeping")
    config = changed(small_config, "methods.esc.coder.lam", 77)
    config = changed(config, "experiments.grid.trials", 9)
    assert recipes.fragment(load(config), "sweeping") == before
    assert recipes.fragment(load(changed(config, "methods.fsc.coder.lam", 77)), "sweeping") != before


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("experiments.grid.methods", ["fsc", "omp"]),
        ("experiments.sweeping.overrides", {"esc": {"trials": 1}}),
        ("experiments.grid.overrides", {"esc": {"dataset": "spare"}}),
        ("experiments.grid.overrides", {"fsc": {"dataset": "spare"}}),
        ("experiments.sweeping.overrides", {"fsc": {"dataset": "spare"}}),
    ],
)
def test_a_fragment_can_be_loaded_whatever_overrides_there_are(small_config, where, value):
    small_config["datasets"]["spare"] = small_config["datasets"]["raw"]
    study = load(changed(changed(small_config, "experiments.grid.methods", ["fsc", "omp"]), where, value))
    for experiment in study.experiments:
        load(json.loads(recipes.fragment(study, experiment)))


@pytest.mark.parametrize("which", ["paper_config", "demo_config"])
def test_the_configs_of_this_project_load_and_give_paths_that_snakemake_can_read_back(which, request):
    study = load(request.getfixturevalue(which))
    for wildcards in runs_of(study, study.experiments):
        assert all(re.fullmatch(WILDCARDS[key], value) for key, value in wildcards.items())
        assert (("selector", wildcards["selector"])) in study.parts
    for experiment in study.run:
        assert runs_of(load(json.loads(recipes.fragment(study, experiment)))) == runs_of(study, [experiment])
        assert results.results_of(study, experiment)


def test_recipes_name_everything_a_stage_needs(small_config):
    study = load(small_config)
    data = json.loads(recipes.data_recipe(study, "raw", 30, "t00-01"))
    assert (data["n_clusters"], data["unit_norm"], data["part"]["params"]["noise"]) == (3, False, 0.2)
    clusters = json.loads(recipes.part_recipe(study, "clusterer", "kmeans", 30, "t00-01", n_clusters=3))
    part = {"kind": "clusterer", "name": "kmeans", "params": {"n_init": 10, "max_iter": 100}}
    assert clusters == {"seed": 1, "n": 30, "block": "t00-01", "n_clusters": 3, "part": part}
    figure = json.loads(recipes.figures_recipe(study, "line"))["fig"]
    assert (figure["x"], figure["y"], figure["methods"]) == ("m", "accuracy", ["fsc", "omp"])
