# The study that config describes, and the functions that rules call by name. No rule here.
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
os.environ["PYTHONPATH"] = os.pathsep.join([LIBRARY, *filter(None, [os.getenv("PYTHONPATH")])])
os.environ["PYTHONSAFEPATH"] = "1"
os.environ["PATH"] = os.pathsep.join([str(PYTHON), *filter(None, [os.getenv("PATH")])])

from lssc.pipeline.snakemake import hooks as lssc_hooks
from lssc.data import images as lssc_images
from lssc.pipeline.study import paths as lssc_paths
from lssc.pipeline.study import recipes as lssc_recipes
from lssc.report import page as lssc_report
from lssc.pipeline.snakemake import resources as lssc_resources
from lssc.pipeline.snakemake.fingerprint import fingerprint
from lssc.pipeline.config.files import read_config
from lssc.pipeline.config.overlay import known_methods_first
from lssc.pipeline.config.plain import as_json
from lssc.pipeline.study.recipes import ConfigError, load
from lssc.parts.registry import module_of
from lssc.paper.own_claims import read_own_claims
from lssc.report.tables import uncoded_warnings

# Methods of one's own come last: they leave the others their colours.
config.update(known_methods_first(config, read_config(f"{workflow.basedir}/config/config.yaml")["methods"]))
own_claims = [config["claims"]] if "claims" in config else []
try:
    study = load(config)
    for path in own_claims:
        read_own_claims(path, config)
except ConfigError as error:
    sys.exit(str(error))

paths = study.paths
log_of = lssc_paths.log_of
lssc_hooks.prepare(workflow, study)


wildcard_constraints:
    **lssc_paths.WILDCARDS,


def as_it_is(text):
    """A text as a params function: in a plain string Snakemake would take braces, of a label say, for wildcards."""

    def param(wildcards):
        return text

    return param


def images_recipe(wildcards):
    return study.images_recipe(wildcards.images)


def shard_recipe(wildcards):
    return study.shard_recipe(wildcards.images, wildcards.shard)


def shard_code(wildcards):
    features = study.collections[wildcards.images].features
    return fingerprint("lssc.pipeline.stages.featurise_images", module_of("features", features.name))


def shards(wildcards):
    return study.shards_of(wildcards.images)


def reduction(wildcards):
    return study.reduction(wildcards.images, wildcards.reduction)


def features(wildcards):
    return study.features_of(wildcards.dataset)


def data_recipe(wildcards):
    return study.data_recipe(wildcards.dataset, int(wildcards.n), wildcards.block)


def data_code(wildcards):
    generator = study.datasets[wildcards.dataset].generator
    return fingerprint("lssc.pipeline.stages.generate_data", module_of("dataset", generator.name))


def part_recipe(kind, **more):
    """The recipe of the part that the path names, as a params function."""

    def recipe(wildcards):
        extra = {key: value(wildcards) for key, value in more.items()}
        return study.part_recipe(kind, wildcards[kind], int(wildcards.n), wildcards.block, **extra)

    return recipe


def part_code(stage, kind):
    """The fingerprint of a stage with the part that the path names, as a params function."""

    def code(wildcards):
        return fingerprint(f"lssc.pipeline.stages.{stage}", module_of(kind, study.parts[kind, wildcards[kind]].name))

    return code


def n_landmarks(wildcards):
    return int(wildcards.m)


def n_clusters(wildcards):
    return study.datasets[wildcards.dataset].n_clusters


def score_recipe(wildcards):
    return study.score_recipe(int(wildcards.n), wildcards.block)


def runnable(experiment):
    """An experiment, also one that config does not run but a target names."""
    try:
        study.require_sizes(experiment)
    except ConfigError as error:
        sys.exit(str(error))
    return experiment


def scores_of(wildcards):
    runs = study.experiments[runnable(wildcards.experiment)].runs()
    return [paths.scores.format(**run.wildcards) for run in runs]


def sources_of(wildcards):
    return [paths.source.format(images=id) for id in study.collections_of(wildcards.experiment)]


def images_of(experiment):
    images = study.collections_of(experiment)[0]
    return [paths.images(name).format(images=images) for name in lssc_images.FILES]


def pictured(experiment):
    def files(wildcards):
        return [shown[name] for shown in study.pictured(runnable(experiment)) for name in lssc_recipes.PICTURED]

    return files


def compared(wildcards):
    return [file for pair in study.compared(runnable(wildcards.experiment)) for file in pair["one"] + pair["two"]]


def compare_recipe(wildcards):
    return as_json(study.compared(wildcards.experiment))


def experiment_config(wildcards):
    return study.fragment(wildcards.experiment)


def held_values(wildcards):
    return study.held_values(wildcards.experiment)


def dataset_labels(wildcards):
    return study.dataset_labels(wildcards.experiment)


def judged(name, ids=study.judged):
    return [paths.experiment(name).format(experiment=id) for id in ids]


def every_result():
    return [path for id in study.run for path in study.results_of(id)] + [paths.claims, paths.report]


def warn_of_uncoded_points():
    for line in uncoded_warnings(path for path in map(Path, judged("scores.csv", study.run)) if path.is_file()):
        logger.warning(line)


def in_report(files, category, caption, experiment):
    """These files, with the PNG images among them marked for Snakemake's own report."""
    look = {"caption": f"../report/{caption}.rst", "category": category, "subcategory": experiment}
    return [report(path, labels={"name": Path(path).stem}, **look) if path.endswith(".png") else path for path in files]


def longest_first(wildcards):
    """Coding every point by all others takes longest: begun late, one such job would keep a run waiting at its end.

    Priorities do not reach back to what a job needs, so the rules before it have theirs: data, which take little, come first.
    """
    return int(wildcards.n) if wildcards.selector == "all" else 0


def asks(rule, **known):
    """What the jobs of a rule ask a cluster for, as functions; `known` stands in for wildcards where there are none."""

    def amount(name):
        def asked(wildcards, attempt):
            return lssc_resources.ask(study, rule, known or wildcards, attempt, lssc_hooks.limits(workflow))[name]

        return asked

    return {name: amount(name) for name in ("mem_mb", "runtime")}
