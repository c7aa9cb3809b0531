rule select_landmarks:
    input:
        data=paths.data,
    output:
        paths.landmarks,
    log:
        log_of(paths.landmarks),
    priority: longest_first
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **asks("select_landmarks"),
    params:
        recipe=part_recipe("selector", m=n_landmarks, n_clusters=n_clusters),
        code=part_code("select_landmarks", "selector"),
    shell:
        "python -m lssc.pipeline.stages.select_landmarks --data {input.data:q}"
        " --recipe {params.recipe:q} --code {params.code:q} --out {output:q} 2> {log:q}"


rule code_points:
    input:
        data=paths.data,
        landmarks=paths.landmarks,
    output:
        paths.codes,
    log:
        log_of(paths.codes),
    priority: longest_first
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **asks("code_points"),
    params:
        recipe=part_recipe("coder", n_clusters=n_clusters),
        code=part_code("code_points", "coder"),
    shell:
        "python -m lssc.pipeline.stages.code_points --data {input.data:q} --landmarks {input.landmarks:q} --threads {threads}"
        " --recipe {params.recipe:q} --code {params.code:q} --out {output:q} 2> {log:q}"


rule embed_points:
    input:
        codes=paths.codes,
    output:
        paths.embedding,
    log:
        log_of(paths.embedding),
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **asks("embed_points"),
    params:
        recipe=part_recipe("embedder", n_clusters=n_clusters),
        code=part_code("embed_points", "embedder"),
    shell:
        "python -m lssc.pipeline.stages.embed_points --codes {input.codes:q}"
        " --recipe {params.recipe:q} --code {params.code:q} --out {output:q} 2> {log:q}"


rule cluster_points:
    input:
        embedding=paths.embedding,
    output:
        paths.labels,
    log:
        log_of(paths.labels),
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **asks("cluster_points"),
    params:
        recipe=part_recipe("clusterer", n_clusters=n_clusters),
        code=part_code("cluster_points", "clusterer"),
    shell:
        "python -m lssc.pipeline.stages.cluster_points --embedding {input.embedding:q}"
        " --recipe {params.recipe:q} --code {params.code:q} --out {output:q} 2> {log:q}"


rule score_labels:
    input:
        data=paths.data,
        landmarks=paths.landmarks,
        codes=paths.codes,
        embedding=paths.embedding,
        labels=paths.labels,
    output:
        paths.scores,
    log:
        log_of(paths.scores),
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **asks("score_labels"),
    params:
        recipe=score_recipe,
        code=fingerprint("lssc.pipeline.stages.score_labels"),
    shell:
        "python -m lssc.pipeline.stages.score_labels --data {input.data:q} --landmarks {input.landmarks:q}"
        " --codes {input.codes:q} --embedding {input.embedding:q} --labels {input.labels:q}"
        " --recipe {params.recipe:q} --code {params.code:q} --out {output:q} 2> {log:q}"
