"""Checks that need a study: sizes that do not fit each other, and runs that figures and pictures miss."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from lssc.errors import ConfigError
from lssc.parts.registry import find, param_problems, suggest
from lssc.pipeline.config.plain import MAX_JSON_CHARACTERS
from lssc.pipeline.limits import LIMITS
from lssc.pipeline.study.model import Dataset, Experiment, Method, Study
from lssc.pipeline.study.recipes import compare_recipe, figures_recipe, pictures_recipe
from lssc.pipeline.study.results import STEP_TIMES, compared_files, pictured_files

# Quantities of figures that need true labels, and that only points without them have.
NEED_TRUTH, WITHOUT_TRUTH = ("accuracy", "nmi", "ari"), ("eigengap", "share_uncoded", "agreement")


def study_problems(study: Study) -> list[str]:
    """One line per problem of the experiments to run, and of what any experiment draws and compares."""
    problems = []
    for experiment in study.experiments.values():
        problems += [*_pictures_problems(study, experiment), *_compare_problems(experiment)]
    problems += [problem for id in study.run for problem in _size_problems(study, study.experiments[id])]
    problems = problems or [problem for id in study.experiments for problem in _length_problems(study, id)]
    return list(dict.fromkeys(problems))


def require_sizes(study: Study, experiment: str) -> None:
    """ConfigError unless an experiment's sizes fit; `study_problems` skips experiments that only a target names."""
    if problems := list(_size_problems(study, study.experiments[experiment])):
        raise ConfigError(list(dict.fromkeys(problems)))


def _size_problems(study: Study, experiment: Experiment) -> Iterator[str]:
    at = f"experiments.{experiment.id}"
    for method, id, n, m in experiment.sizes():
        dataset = study.datasets[id]
        where = f"{at}.datasets.{id}" if experiment.has_datasets else at
        wrong = _images_problems(study, dataset)
        yield from wrong
        if not wrong and (problem := _points_problem(study, dataset, n)):
            yield f"{where}.n: {problem}"
        yield from _method_problems(where, method, n, m, dataset.n_clusters)
    yield from _figure_problems(experiment)
    yield from _truth_problems(study, experiment)
    yield from _stream_problems(study, experiment)


def _stream_problems(study: Study, experiment: Experiment) -> Iterator[str]:
    """Experiments that would make the same files under different limits."""
    for key, other in itertools.product(LIMITS, study.experiments.values()):
        own, others = (e.limits.get(key, "none") for e in (experiment, other))
        if other.stream == experiment.stream and own != others:
            same = f"{other.id!r} has {others} on the same stream {other.stream!r}"
            yield f"experiments.{experiment.id}.{key}: {own}, but {same}; give one of them another stream"
            return


def _truth_problems(study: Study, experiment: Experiment) -> Iterator[str]:
    """Figures and sweeps that need true labels which no dataset of the experiment has, or has instead."""
    at, known = f"experiments.{experiment.id}", [study.datasets[id].has_labels for id in experiment.datasets]
    if (experiment.is_sweep or experiment.is_leaderboard) and not all(known):
        unlabelled = next(id for id in experiment.datasets if not study.datasets[id].has_labels)
        what = "sweep: chooses" if experiment.is_sweep else "datasets: a leaderboard ranks"
        yield f"{at}.{what} by accuracy, but dataset {unlabelled!r} has no labels; name them by its generator"
    for figure, entry in experiment.figures.items():
        if entry["y"] in NEED_TRUTH and not any(known):
            yield f"{at}.figures.{figure}.y: {entry['y']} needs labels, which the points do not have; use agreement"
        if entry["y"] in WITHOUT_TRUTH and all(known):
            yield f"{at}.figures.{figure}.y: {entry['y']} is for points without labels; use accuracy"


def _method_problems(at: str, method: Method, n: int, m: int, n_clusters: int) -> Iterator[str]:
    """Numbers of landmarks and parameters that do not fit n."""
    if m > n:
        yield f"{at}.m: {m} landmarks requested from n={n} points; need m <= n"
    if m < n_clusters:
        yield f"{at}.m: {m} landmarks for n_clusters={n_clusters}; need m >= n_clusters"
    for part in method.parts:
        problems = param_problems(find(part.kind, part.name), part.params, {"n": n, "m": m})
        yield from (f"methods.{method.id}.{part.kind}.{key}: {text} in {at}" for key, text in problems.items())


def _figure_problems(experiment: Experiment) -> Iterator[str]:
    for figure, entry in experiment.figures.items():
        at = f"experiments.{experiment.id}"
        if figure == STEP_TIMES:
            yield f"{at}.figures.{figure}: the name of the figure of runtimes by step; use another"
        other = {"m": "n", "n": "m"}[entry["x"]]
        if experiment.is_sweep:
            yield f"{at}.figures.{figure}: a sweep draws its own figure; remove this one"
        elif len(experiment.ns if other == "n" else experiment.ms) > 1:
            only = f"over {entry['x']} it can show one {other} only"
            yield f"{at}.figures.{figure}: {only}; give {at}.{other} one value"


def _length_problems(study: Study, experiment: str) -> Iterator[str]:
    """Recipes and lists of files that are too long for a command."""
    recipes = {
        "figures": figures_recipe(study, experiment),
        "compare": " ".join([compare_recipe(study, experiment), *compared_files(study, experiment)]),
    }
    if study.experiments[experiment].pictures:
        recipes["pictures"] = " ".join([pictures_recipe(study, experiment), *pictured_files(study, experiment)])
    remedy = {"compare": "use larger blocks", "figures": "name fewer", "pictures": "name fewer methods"}
    for key, text in recipes.items():
        if len(text) > MAX_JSON_CHARACTERS:
            yield f"experiments.{experiment}.{key}: too long for the command of one job; {remedy[key]}"


def _pictures_problems(study: Study, experiment: Experiment) -> list[str]:
    if not experiment.pictures:
        return []
    at, shown = f"experiments.{experiment.id}.pictures", experiment.pictures
    if experiment.is_sweep:
        return [f"{at}: a sweep has none; remove it"]
    problems = []
    if shown["m"] not in experiment.ms:
        problems.append(f"{at}.m: {shown['m']} must be one of the experiment's m: {', '.join(map(str, experiment.ms))}")
    methods = {method.id: method for method in experiment.methods}
    for id in shown["methods"]:
        if id not in methods:
            problems.append(f"{at}.methods: {id!r} is not run by the experiment; {suggest(id, methods)}")
        elif methods[id].parts[0].kind == "method":
            problems.append(f"{at}.methods: {id!r} has no landmarks to draw; leave it out")
        elif study.datasets[experiment.dataset_of(methods[id])].collection is None:
            problems.append(f"{at}: the points of {experiment.dataset_of(methods[id])!r} are no images; remove it")
    if not problems:
        drawn = {study.datasets[experiment.dataset_of(methods[id])].collection for id in shown["methods"]}
        if drawn != {first := study.collections_of(experiment.id)[0]}:
            problems.append(f"{at}.methods: only methods on images of {first!r}, the experiment's first, can be drawn")
    return problems


def _compare_problems(experiment: Experiment) -> list[str]:
    if not experiment.compare:
        return []
    at = f"experiments.{experiment.id}.compare"
    if experiment.is_sweep:
        return [f"{at}: a sweep has none; remove it"]
    methods = {method.id: method for method in experiment.methods}
    for id in experiment.compare:
        if id not in methods:
            return [f"{at}: {id!r} is not run by the experiment; {suggest(id, methods)}"]
        if methods[id].parts[0].kind == "method":
            return [f"{at}: {id!r} has no embedding to compare; leave it out"]
    one, two = (methods[id] for id in experiment.compare)
    alike = (
        one.ignores_m == two.ignores_m
        and experiment.trials_of(one.id) == experiment.trials_of(two.id)
        and experiment.block_of(one.id) == experiment.block_of(two.id)
        and experiment.dataset_of(one) == experiment.dataset_of(two)
    )
    if alike:
        return []
    return [f"{at}: {one.id!r} and {two.id!r} must run on the same trials in the same blocks, dataset and m"]


def _images_problems(study: Study, dataset: Dataset) -> list[str]:
    """Classes and dimensions that the images do not have."""
    if dataset.collection is None:
        return []
    images, params, at = study.collections[dataset.collection], dataset.generator.params, f"datasets.{dataset.id}"
    classes = params["classes"] or range(len(images.counts))
    problems = [
        f"{at}.generator.classes: class {label} has no image in images.{images.id}.counts; leave it out"
        for label in classes
        if not images.counts[label]
    ]
    if images.width and params["dim"] > images.width:
        problems.append(f"{at}.generator.dim: {params['dim']} must be at most {images.width}, the features of an image")
    return problems


def _points_problem(study: Study, dataset: Dataset, n: int) -> str | None:
    """Why a dataset cannot give n points; files of one's own were checked when config was filled in."""
    if dataset.own_files:
        return None
    if dataset.table:
        return _table_problem(study, dataset, n)
    K = dataset.n_clusters
    images = study.collections.get(dataset.collection or "")
    if images and n > images.size:
        return f"{n} points requested from {images.size} images"
    if images and (dim := dataset.generator.params["dim"]) > (n if dataset.reduction is None else images.size):
        return f"{n} points of {images.size} images are too few for dim={dim} of dataset {dataset.id!r}"
    # The classes of the first few images are not known before they are read.
    if images and not images.first:
        counts = [images.counts[label] for label in dataset.generator.params["classes"] or range(len(images.counts))]
        if n == sum(counts):
            return None
        if n > K * min(counts):
            most = f"need at most {K * min(counts)}, or {sum(counts)} for all"
            return f"{n} points of {K} classes, the smallest of which has {min(counts)} images; {most}"
    return f"{n} must be a multiple of n_clusters={K}" if n % K else None


def _table_problem(study: Study, dataset: Dataset, n: int) -> str | None:
    """Why a table cannot give n points, or as many components."""
    table, dim = study.tables[dataset.table or ""], dataset.generator.params["dim"]
    if n > table.size:
        return f"{n} points requested from the {table.size} of table {table.id!r}"
    if dim > (most := min(n, table.columns)):
        return f"dim={dim} of dataset {dataset.id!r} must be at most {most}, its points or columns"
    return None
