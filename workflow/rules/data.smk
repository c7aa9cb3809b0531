IMAGE_FILES = [paths.images(name) for name in lssc_images.FILES]


# Nodes of a cluster often have no network.
localrules:
    fetch_images,
    fetch_table,


rule fetch_images:
    output:
        files=IMAGE_FILES,
        source=paths.source,
    log:
        log_of(paths.source),
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **requests("fetch_images"),
    params:
        recipe=images_recipe,
    shell:
        "python -m lssc.pipeline.stages.fetch_images --recipe {params.recipe:q}"
        " --out {output.files:q} --source {output.source:q} 2> {log:q}"


rule fetch_table:
    output:
        points=paths.table("points.h5"),
        source=paths.table("points.json"),
    log:
        log_of(paths.table("points.h5")),
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **requests("fetch_table"),
    params:
        recipe=table_recipe,
        code=table_code,
    shell:
        "python -m lssc.pipeline.stages.fetch_table --recipe {params.recipe:q} --code {params.code:q}"
        " --out {output.points:q} --source {output.source:q} 2> {log:q}"


rule featurise_images:
    input:
        # What counts is their content, and the recipe holds the checksums.
        images=ancient(IMAGE_FILES),
    output:
        paths.shard,
    log:
        log_of(paths.shard),
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **requests("featurise_images"),
    params:
        recipe=shard_recipe,
        code=shard_code,
    shell:
        "python -m lssc.pipeline.stages.featurise_images --images {input.images:q}"
        " --recipe {params.recipe:q} --code {params.code:q} --out {output:q} 2> {log:q}"


rule reduce_features:
    input:
        features=shards,
    output:
        paths.reduced,
    log:
        log_of(paths.reduced),
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **requests("reduce_features"),
    params:
        recipe=reduction,
        code=numerics("reduce_features"),
    shell:
        "python -m lssc.pipeline.stages.reduce_features --features {input.features:q}"
        " --recipe {params.recipe:q} --code {params.code:q} --out {output:q} 2> {log:q}"


rule generate_data:
    input:
        features=features,
        own=own_files,
    output:
        paths.data,
    log:
        log_of(paths.data),
    priority: AT_ONCE
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **requests("generate_data"),
    params:
        recipe=data_recipe,
        code=data_code,
    shell:
        "python -m lssc.pipeline.stages.generate_data --features {input.features:q}"
        " --recipe {params.recipe:q} --code {params.code:q} --out {output:q} 2> {log:q}"
