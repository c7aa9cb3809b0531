"""Recipes: what a rule passes to its stage beside files, as JSON. A changed recipe reruns the stage."""

from __future__ import annotations

from typing import Any

from lssc.pipeline.config.plain import as_json
from lssc.pipeline.study.model import Study
from lssc.pipeline.study.results import compared_runs, figure_specs, pictured_runs


def images_recipe(study: Study, collection: str) -> str:
    images = study.collections[collection]
    sources = [source.as_dict() for source in images.sources]
    files = {"folder": images.folder, "sources": sources, "counts": images.counts, "sha256": images.sha256}
    return as_json({"images": collection, **files})


def table_recipe(study: Study, table: str) -> str:
    entry = study.tables[table]
    files = {"folder": entry.folder, "sources": [source.as_dict() for source in entry.sources], "sha256": entry.sha256}
    points = {"reader": entry.reader.as_dict(), "counts": entry.counts, "columns": entry.columns}
    return as_json({"table": table, **files, **points})


def shard_recipe(study: Study, collection: str, shard: str) -> str:
    images = study.collections[collection]
    first, last = map(int, shard.split("-"))
    recipe = {"first": first, "last": last, "sha256": images.sha256, "part": images.features.as_dict()}
    return as_json(recipe, sort_keys=True)


def shards_of(study: Study, collection: str) -> list[str]:
    """The feature files of a collection."""
    images = study.collections[collection]
    known = {"images": collection, "features": images.features.slug}
    return [study.paths.shard.format(**known, shard=shard) for shard in images.shards]


def reduction_recipe(study: Study, collection: str, slug: str) -> str:
    """The reduction with this folder name, to at most as many components as the collection has."""
    datasets = (d for d in study.datasets.values() if d.collection == collection and d.reduction)
    reduction = next(d.reduction for d in datasets if d.reduction_slug == slug)
    images = study.collections[collection]
    most = min(images.size, images.width or images.size)
    return as_json({**reduction, "dim": min(reduction["dim"], most)})


def features_of(study: Study, dataset: str) -> list[str]:
    """The files of features or of a table that a dataset's trials are drawn from; none if it makes its own points."""
    data = study.datasets[dataset]
    if data.table:
        return [study.paths.table("points.h5").format(table=data.table)]
    if data.collection is None:
        return []
    if data.reduction is None:
        return shards_of(study, data.collection)
    images = study.collections[data.collection]
    known = {"images": images.id, "features": images.features.slug, "size": images.size}
    return [study.paths.reduced.format(**known, reduction=data.reduction_slug)]


def own_files_of(study: Study, dataset: str) -> list[str]:
    """The files of one's own that a dataset's trials are drawn from."""
    return study.datasets[dataset].own_files


def data_recipe(study: Study, dataset: str, n: int, block: str) -> str:
    data = study.datasets[dataset]
    part = data.generator.as_dict()
    return trial_recipe(study, n, block, n_clusters=data.n_clusters, unit_norm=data.unit_norm, part=part)


def part_recipe(study: Study, kind: str, slug: str, n: int, block: str, **more: Any) -> str:
    return trial_recipe(study, n, block, part=study.parts[kind, slug].as_dict(), **more, **study.limits(block))


def trial_recipe(study: Study, n: int, block: str, **more: Any) -> str:
    return as_json({"seed": study.seed, "n": n, "block": block, **more}, sort_keys=True)


def figures_recipe(study: Study, experiment: str) -> str:
    """What each figure shows."""
    planned = study.experiments[experiment]
    # Colours follow the methods table, so that a method looks the same in every figure.
    order = {id: entry["label"] for id, entry in study.config["methods"].items()}
    common = {"methods": list(order), "title": planned.title, "ms": planned.ms, "order": order}
    return as_json({id: {**common, **entry} for id, entry in figure_specs(study, experiment).items()})


def pictures_recipe(study: Study, experiment: str) -> str:
    """The labels of the methods and of their classes that pictures show, in the order of `pictured_files`."""
    sha256 = study.collections[study.collections_of(experiment)[0]].sha256
    methods = []
    for run in pictured_runs(study, experiment):
        dataset = study.datasets[run.dataset]
        names = study.collections[dataset.collection].names
        classes = [names[label] for label in sorted(dataset.generator.params["classes"]) or range(len(names))]
        methods.append({"label": run.method.label, "names": classes})
    return as_json({"seed": study.seed, "sha256": sha256, "methods": methods})


def compare_recipe(study: Study, experiment: str) -> str:
    """The sizes and trials of each pair of runs, in the order of `compared_files`."""
    pairs = compared_runs(study, experiment)
    return as_json([{"n": one.n, "m": one.m, "block": str(one.block)} for one, _ in pairs])


def held_values(study: Study, experiment: str) -> str:
    """By method, its own values of the parameters that a sweep shows but does not choose."""
    planned = study.experiments[experiment]
    ids = dict.fromkeys(method.id for method in planned.methods)
    methods = {id: study.methods[id].overridden(planned.overrides) for id in ids}
    return as_json({id: {key: method.value(key) for key in planned.held} for id, method in methods.items()})


def dataset_labels(study: Study, experiment: str) -> str:
    """Dataset -> its name in figures."""
    return as_json({id: study.datasets[id].label for id in study.experiments[experiment].datasets})


def fragment(study: Study, experiment: str, *, shown: bool = False) -> str:
    """The part of the config that an experiment's scores depend on, itself a config; if `shown`, with its figures."""
    planned, config = study.experiments[experiment], study.config
    methods = {method.id for method in planned.methods}
    entry = dict(config["experiments"][experiment])
    if shown:
        methods |= {id for figure in planned.figures.values() for id in figure.get("methods", ())}
    else:
        entry = {key: value for key, value in entry.items() if key not in ("figures", "pictures")}
    entry["overrides"] = {id: value for id, value in planned.overrides.items() if id in methods}
    overridden = {value["dataset"] for value in entry["overrides"].values() if "dataset" in value}
    datasets = {*(grid.dataset for grid in planned.grids), *overridden, *planned.datasets}
    collections = {study.datasets[id].collection for id in datasets}
    used = {"images": collections, "methods": methods, "datasets": datasets}
    if "tables" in config:
        used["tables"] = {study.datasets[id].table for id in datasets}
    tables = {key: {id: value for id, value in config[key].items() if id in ids} for key, ids in used.items()}
    common = {key: value for key, value in config.items() if key != "claims"}
    return as_json({**common, **tables, "run": [experiment], "experiments": {experiment: entry}})
