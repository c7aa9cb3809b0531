# The study that config describes, and the functions that rules call by name. No rule here.
import math
import os
import sys
from pathlib import Path

from snakemake.logging import logger

# This checkout's library and Snakemake's own Python, here and in every job, whatever else is installed or on the path.
# A conda environment, if one is used, is activated within a job and comes first there.
LIBRARY = str(Path(workflow.basedir) / "workflow")
PYTHON = Path(sys.executable).parent
if bad := {"{", "}", os.pathsep} & set(LIBRARY):
    sys.exit(f"{workflow.basedir}: Snakemake or Python cannot run from a path with {min(bad)!r}; move it")
if not (PYTHON / "python").exists():
    sys.exit(f"{PYTHON}: jobs need `python` there, beside the Python that runs Snakemake")
sys.path.insert(0, LIBRARY)
# The logger plugin, which comes from the environment, has imported some of the environment's library.
for name in [name for name in sys.modules if name.partition(".")[0] == "lssc"]:
    del sys.modules[name]
os.environ |= {
    "PYTHONPATH": os.pathsep.join([LIBRARY, *filter(None, [os.getenv("PYTHONPATH")])]),
    "PYTHONSAFEPATH": "1",
    "PATH": os.pathsep.join([str(PYTHON), *filter(None, [os.getenv("PATH")])]),
}

from lssc.data import images as lssc_images
from lssc.errors import ConfigError
from lssc.pipeline.config.files import read_config
from lssc.pipeline.config.overlay import known_methods_first
from lssc.pipeline.snakemake import hooks as lssc_hooks
from lssc.pipeline.snakemake import resources as lssc_resources
from lssc.pipeline.snakemake.fingerprint import numerics
from lssc.pipeline.study import paths as lssc_paths
from lssc.pipeline.study import recipes, results
from lssc.pipeline.study.load import load
from lssc.pipeline.study.sizes import require_sizes
from lssc.pipeline.study.steps import STEPS, step_of
from lssc.report.outline import complete_folders

# Methods of one's own come last: they leave the others their colours.
config.update(known_methods_first(config, read_config(f"{workflow.basedir}/config/config.yaml")["methods"]))
own_claims = [config["claims"]] if "claims" in config else []
try:
    study = load(config)
    if own_claims:
        from lssc.paper.own_claims import read_own_claims

        read_own_claims(*own_claims, config)
except ConfigError as error:
    sys.exit(str(error))

paths = study.paths
log_of = lssc_paths.log_of
lssc_hooks.prepare(workflow, study)


wildcard_constraints:
    **lssc_paths.WILDCARDS,


def as_it_is(text):
    """A params function that returns the text, or list: in a plain string Snakemake would read braces as wildcards."""

    def param(wildcards):
        return text

    return param


def images_recipe(wildcards):
    return recipes.images_recipe(study, wildcards.images)


def table_recipe(wildcards):
    return recipes.table_recipe(study, wildcards.table)


def table_code(wildcards):
    return numerics("fetch_table", study.tables[wildcards.table].reader)


def shard_recipe(wildcards):
    return recipes.shard_recipe(study, wildcards.images, wildcards.shard)


def shard_code(wildcards):
    return numerics("featurise_images", study.collections[wildcards.images].features)


def shards(wildcards):
    return recipes.shards_of(study, wildcards.images)


def reduction(wildcards):
    return recipes.reduction_recipe(study, wildcards.images, wildcards.reduction)


def features(wildcards):
    return recipes.features_of(study, wildcards.dataset)


def own_files(wildcards):
    # What counts is their content, which the recipe holds.
    return [ancient(path) for path in recipes.own_files_of(study, wildcards.dataset)]


def data_recipe(wildcards):
    return recipes.data_recipe(study, wildcards.dataset, int(wildcards.n), wildcards.block)


def data_code(wildcards):
    return numerics("generate_data", study.datasets[wildcards.dataset].generator)


def read_by(rule):
    """The artifacts that a step reads, by name."""
    return {name: paths.artifact(name) for name in step_of(rule).reads}


def made_by(rule):
    """The artifact that a step makes."""
    return paths.artifact(step_of(rule).makes)


def step_recipe(rule, **more):
    """The recipe of the part that the path names, as a params function."""
    kind = step_of(rule).kind

    def recipe(wildcards):
        extra = {key: value(wildcards) for key, value in more.items()}
        extra["n_clusters"] = study.datasets[wildcards.dataset].n_clusters
        return recipes.part_recipe(study, kind, wildcards[kind], int(wildcards.n), wildcards.block, **extra)

    return recipe


def step_code(rule):
    """The fingerprint of the part that the path names, as a params function."""
    kind = step_of(rule).kind

    def code(wildcards):
        return numerics(rule, study.parts[kind, wildcards[kind]])

    return code


def n_landmarks(wildcards):
    return int(wildcards.m)


def every_step(wildcards):
    """The artifacts of all steps of a method, in order."""
    return paths.artifacts_of(wildcards)


def score_recipe(wildcards):
    # A score has columns for every step there is: a new step makes scores anew.
    columns = [step.verb for step in STEPS]
    return recipes.trial_recipe(study, int(wildcards.n), wildcards.block, columns=columns)


def runnable(experiment):
    """An experiment, also one that config does not run but a target names."""
    try:
        require_sizes(study, experiment)
    except ConfigError as error:
        sys.exit(str(error))
    return experiment


def scores_of(wildcards):
    runs = study.experiments[runnable(wildcards.experiment)].runs()
    return [paths.scores.format(**run.wildcards) for run in runs]


def sources_of(wildcards):
    images = [paths.source.format(images=id) for id in study.collections_of(wildcards.experiment)]
    return images + [paths.table("points.json").format(table=id) for id in study.tables_of(wildcards.experiment)]


def images_of(experiment):
    images = study.collections_of(experiment)[0]
    return [paths.images(name).format(images=images) for name in lssc_images.FILES]


def pictured(experiment):
    def files(wildcards):
        return results.pictured_files(study, runnable(experiment))

    return files


def compared(wildcards):
    return results.compared_files(study, runnable(wildcards.experiment))


def compare_recipe(wildcards):
    return recipes.compare_recipe(study, wildcards.experiment)


def experiment_config(wildcards):
    return recipes.fragment(study, runnable(wildcards.experiment), shown=True)


def held_values(wildcards):
    return recipes.held_values(study, wildcards.experiment)


def dataset_labels(wildcards):
    return recipes.dataset_labels(study, wildcards.experiment)


def in_experiments(name, ids):
    """A file of this name in the folder of each experiment."""
    return [paths.experiment(name).format(experiment=id) for id in ids]


# Experiments of earlier runs that lie complete in the results folder. They are shown and judged as they are.
earlier = complete_folders(Path(paths.experiment("").format(experiment=".")), study.run)


def existing(name):
    """A file of this name from each experiment of earlier runs that has one."""
    return [path for path in in_experiments(name, earlier) if Path(path).is_file()]


def every_result():
    return [path for id in study.run for path in results.results_of(study, id)] + [paths.claims, paths.report]


def warn_of_uncoded_points():
    from lssc.report.tables import uncoded_warnings

    for line in uncoded_warnings(path for path in map(Path, in_experiments("scores.csv", study.run)) if path.is_file()):
        logger.warning(line)


def in_report(files, category, caption, experiment):
    """These files, with the PNG images among them marked for Snakemake's own report."""
    look = {"caption": f"../report/{caption}.rst", "category": category, "subcategory": experiment}
    return [report(path, labels={"name": Path(path).stem}, **look) if path.endswith(".png") else path for path in files]


# The priority of quick jobs that others wait for, above any job's seconds.
AT_ONCE = 1_000_000_000


def longest_first(step):
    """The expected seconds as priority: a long job that starts late delays the end of a run.

    Snakemake does not pass a priority on to a job's inputs. The longest jobs wait for the selection of all points, so
    that one has the highest.
    """

    def priority(wildcards):
        if step == "select_landmarks" and wildcards.selector == "all":
            return AT_ONCE
        return math.ceil(lssc_resources.expected_seconds(study, step, wildcards))

    return priority


def requests(rule, **known):
    """The resources that the jobs of a rule request, as functions; `known` replaces wildcards where a rule has none."""

    def amount(name):
        def requested(wildcards, attempt):
            return lssc_resources.request(study, rule, known or wildcards, attempt, lssc_hooks.limits(workflow))[name]

        return requested

    return {name: amount(name) for name in ("mem_mb", "runtime")}
