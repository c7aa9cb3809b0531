"""Invalid configs are refused before any job, with one line per mistake."""

import math
from pathlib import Path

import pytest
from tests.conftest import MISSING, REPO, changed, problems_of

from lssc.errors import ConfigError
from lssc.pipeline.study import results, sizes
from lssc.pipeline.study.load import load

# The hint for text that reads as a number or a truth value.
NESTED = ", not text: write nested values without quotes, in a file for --configfile"
FIGURE = {"x": "m", "y": "accuracy"}
ERRORS = [
    # (key, value, error line); {at} stands for the key
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
        '{at}: "speed" must be one of accuracy, nmi, ari, seconds, cpu_seconds, eigengap, share_uncoded, agreement',
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
    (
        "methods.fsc.nix",
        "x",
        "{at}: unknown key; known: clusterer, coder, embedder, label, method, parameters, refiner, selector",
    ),
    (
        "methods.fsc.method",
        "kmeans",
        "methods.fsc.selector: a whole method has no selector; remove it, or 'method'\n"
        "config: methods.fsc.coder: a whole method has no coder; remove it, or 'method'\n"
        "config: methods.fsc.embedder: a whole method has no embedder; remove it, or 'method'",
    ),
    ("methods.fsc.coder", MISSING, "{at}: missing"),
    ("methods.fsc.refiner", "subspaces", "{at}.dim: missing; refiner 'subspaces' needs it"),
    ("methods.fsc.clusterer", {"name": "kmeans", "n_init": 0}, "{at}.n_init: 0 must be at least 1"),
    ("methods.fsc.clusterer", {"name": "kmeans", "n_init": 10**9}, "{at}.n_init: 1000000000 must be at most 100,000"),
    ("block", 0, "{at}: 0 must be at least 1"),
    ("seed", -1, "{at}: -1 must be at least 0"),
    ("seed", MISSING, "{at}: missing"),
    ("methods", [], "{at}: [] must be a mapping"),
    ("methodz", {}, "{at}: unknown key; did you mean 'methods'?"),
    (
        "experiments.line.n",
        [30, 60],
        "experiments.line.figures.fig: over m it can show one n only; give {at} one value",
    ),
    ("experiments.line.figures.stages", FIGURE, "{at}: the name of the figure of runtimes by step; use another"),
    ("experiments.sweeping.figures.f", FIGURE, "{at}: a sweep draws its own figure; remove this one"),
    (
        "experiments.sweeping.methods",
        ["fsc"],
        "experiments.sweeping: needs either methods or a sweep of some, not both",
    ),
    ("experiments.sweeping.sweep.fsc.scale_rows", [True], "{at}: held at False, which must be among the values"),
]


@pytest.mark.parametrize(("where", "value", "line"), ERRORS, ids=[f"{e[0]}={e[1]}"[:70] for e in ERRORS])
def test_mistake_is_reported_in_one_line_with_key_value_and_remedy(small_config, where, value, line):
    top, _, rest = where.partition(".")
    if top == "experiments":
        small_config["run"] = [rest.partition(".")[0]]
    small_config["experiments"]["sweeping"].setdefault("figures", {})
    assert problems_of(changed(small_config, where, value)) == f"config: {line.format(at=where)}".splitlines()


@pytest.mark.parametrize("name", ["FSC", "9lives", "a-b", "a b", "", "é", "..", "a.b", "a/../../x", "x" * 101])
@pytest.mark.parametrize("table", ["images", "datasets", "methods", "experiments"])
def test_bad_id_is_reported_with_the_allowed_characters(image_config, table, name):
    entry = next(iter(image_config[table].values()))
    [line] = problems_of(changed(image_config, [table, name], entry))
    assert line.startswith(f"config: {table}: ")
    assert line.endswith("use lower-case letters, digits and _, starting with a letter, at most 100")


def test_all_mistakes_of_a_kind_are_reported_at_once(small_config):
    config = changed(changed(small_config, "methods.fsc.coder.lam", -1), "methods.esc.selector.lam", 0)
    assert len(problems_of(config)) == 2


def test_extreme_valid_sizes_are_accepted(small_config):
    config = changed(small_config, "experiments.grid.m", [3, 30])
    config = changed(changed(config, "methods.esc.embedder.t", 29), "methods.omp.coder.k", 29)
    load(changed(config, "experiments.grid.trials", 1))


def test_sizes_are_checked_for_requested_experiments_only(small_config):
    config = changed(small_config, "experiments.sweeping.m", [999])
    study = load(config)
    sizes.require_sizes(study, "line")
    with pytest.raises(ConfigError, match=r"^config: experiments.sweeping.m: 999 landmarks requested from n=30 .*$"):
        sizes.require_sizes(study, "sweeping")
    assert len(problems_of(changed(config, "run", ["grid", "sweeping"]))) == 1


@pytest.mark.parametrize("config", [None, [], "x", {}])
def test_values_that_are_no_config_are_refused(config):
    assert problems_of(config)


GAPS = [
    ("datasets.raw.generator.ambient_dim", 3),  # below the default subspace_dim
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
    ("experiments.sweeping.sweep", {}),
]


@pytest.mark.parametrize(("where", "value"), GAPS, ids=[f"{gap[0]}={gap[1]!r:.20}" for gap in GAPS])
def test_values_that_would_fail_in_a_job_are_refused(small_config, where, value):
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
def test_bad_results_folder_is_refused(small_config, tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    [line] = problems_of(changed(small_config, "results", folder))
    assert line.startswith("config: results: ")
    assert FOLDERS[folder] in line


@pytest.mark.parametrize("folder", ["../elsewhere", "/scratch/me/results", "./here/", "database", "a.b-c_d/..e"])
def test_other_results_folders_are_accepted(small_config, tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    study = load(changed(small_config, "results", folder))
    inside = Path(folder).resolve()
    assert all(Path(path).resolve().is_relative_to(inside) for path in results.results_of(study, "grid"))


def test_recipe_too_long_for_a_command_line_is_refused(small_config):
    config = changed(small_config, "experiments.line", {**small_config["experiments"]["line"], "trials": 1000})
    assert load(changed(config, "experiments.line.block", 100))
    config = changed(config, "experiments.line.compare", ["fsc", "esc"])
    [line] = problems_of(changed(config, "experiments.line.block", 1))
    assert line == "config: experiments.line.compare: too long for the command of one job; use larger blocks"


def test_only_the_first_50_problems_are_reported(small_config):
    config = changed(small_config, "experiments.grid.n", list(range(31, 151)))
    lines = problems_of(config)
    assert len(lines) == 51
    assert lines[-1].startswith("config: and ")


@pytest.mark.parametrize("change", [{"coder": {"name": "admm", "alpha": 20}}, {"coder": "thresholded"}])
def test_part_that_needs_all_points_is_refused_with_fewer_landmarks(small_config, change):
    small_config["methods"]["odd"] = {**small_config["methods"]["fsc"], **change}
    assert len(problems_of(changed(small_config, "experiments.grid.methods", ["odd"]))) == 1


ADMM = {"label": "ADMM", "selector": "all", "coder": {"name": "admm", "alpha": 20}, "embedder": "affinity"}
SHARED = "coder and clusterer both have it; write coder.max_iter or clusterer.max_iter"


@pytest.mark.parametrize(
    ("method", "params", "message"),
    [
        ("admm", {"max_iter": 5}, f"max_iter: {SHARED}"),
        ("esc", {"coder.max_iter": 5}, "coder.max_iter: no part of the method has it; did you mean 'max_iter'?"),
        ("admm", {"coder.max_iter": 0}, "coder.max_iter: 0 must be at least 1"),
        ("fsc", {"embedder.lam": 5}, "embedder.lam: no part of the method has it; did you mean 'lam'?"),
    ],
)
def test_override_must_address_one_parameter(small_config, method, params, message):
    small_config["methods"]["admm"] = ADMM
    config = changed(small_config, "experiments.grid.overrides", {method: {"params": params}})
    config = changed(config, "experiments.grid.methods", ["fsc", "esc", "admm"])
    assert problems_of(config) == [f"config: experiments.grid.overrides.{method}.params.{message}"]


def test_addressed_override_reaches_its_part_alone(small_config):
    small_config["methods"]["admm"] = ADMM
    overrides = {"admm": {"params": {"coder.max_iter": 7}}, "esc": {"params": {"lam": 3}}}
    config = changed(small_config, "experiments.grid.overrides", overrides)
    _, esc, admm = load(changed(config, "experiments.grid.methods", ["fsc", "esc", "admm"])).experiments["grid"].methods
    assert (admm.value("coder.max_iter"), admm.value("clusterer.max_iter")) == (7, 100)
    # ESC gives lam the same value in both parts: one parameter.
    assert (esc.value("selector.lam"), esc.value("coder.lam")) == (3.0, 3.0)
