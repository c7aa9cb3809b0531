rule select_landmarks:
    input:
        **read_by("select_landmarks"),
    output:
        made_by("select_landmarks"),
    log:
        log_of(made_by("select_landmarks")),
    priority: longest_first("select_landmarks")
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **requests("select_landmarks"),
    params:
        recipe=step_recipe("select_landmarks", m=n_landmarks),
        code=step_code("select_landmarks"),
    shell:
        "python -m lssc.pipeline.stages.select_landmarks --inputs {input:q} --threads {threads}"
        " --recipe {params.recipe:q} --code {params.code:q} --out {output:q} 2> {log:q}"


rule code_points:
    input:
        **read_by("code_points"),
    output:
        made_by("code_points"),
    log:
        log_of(made_by("code_points")),
    priority: longest_first("code_points")
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **requests("code_points"),
    params:
        recipe=step_recipe("code_points"),
        code=step_code("code_points"),
    shell:
        "python -m lssc.pipeline.stages.code_points --inputs {input:q} --threads {threads}"
        " --recipe {params.recipe:q} --code {params.code:q} --out {output:q} 2> {log:q}"


rule embed_points:
    input:
        **read_by("embed_points"),
    output:
        made_by("embed_points"),
    log:
        log_of(made_by("embed_points")),
    priority: longest_first("embed_points")
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **requests("embed_points"),
    params:
        recipe=step_recipe("embed_points"),
        code=step_code("embed_points"),
    shell:
        "python -m lssc.pipeline.stages.embed_points --inputs {input:q} --threads {threads}"
        " --recipe {params.recipe:q} --code {params.code:q} --out {output:q} 2> {log:q}"


rule cluster_points:
    input:
        **read_by("cluster_points"),
    output:
        made_by("cluster_points"),
    log:
        log_of(made_by("cluster_points")),
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **requests("cluster_points"),
    params:
        recipe=step_recipe("cluster_points"),
        code=step_code("cluster_points"),
    shell:
        "python -m lssc.pipeline.stages.cluster_points --inputs {input:q} --threads {threads}"
        " --recipe {params.recipe:q} --code {params.code:q} --out {output:q} 2> {log:q}"


rule refine_labels:
    input:
        **read_by("refine_labels"),
    output:
        made_by("refine_labels"),
    log:
        log_of(made_by("refine_labels")),
    priority: longest_first("refine_labels")
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **requests("refine_labels"),
    params:
        recipe=step_recipe("refine_labels"),
        code=step_code("refine_labels"),
    shell:
        "python -m lssc.pipeline.stages.refine_labels --inputs {input:q} --threads {threads}"
        " --recipe {params.recipe:q} --code {params.code:q} --out {output:q} 2> {log:q}"


rule apply_method:
    input:
        **read_by("apply_method"),
    output:
        made_by("apply_method"),
    log:
        log_of(made_by("apply_method")),
    priority: longest_first("apply_method")
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **requests("apply_method"),
    params:
        recipe=step_recipe("apply_method"),
        code=step_code("apply_method"),
    shell:
        "python -m lssc.pipeline.stages.apply_method --inputs {input:q} --threads {threads}"
        " --recipe {params.recipe:q} --code {params.code:q} --out {output:q} 2> {log:q}"


rule score_labels:
    input:
        paths.data,
        every_step,
    output:
        paths.scores,
    log:
        log_of(paths.scores),
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **requests("score_labels"),
    params:
        recipe=score_recipe,
        code=numerics("score_labels"),
    shell:
        "python -m lssc.pipeline.stages.score_labels --inputs {input:q}"
        " --recipe {params.recipe:q} --code {params.code:q} --out {output:q} 2> {log:q}"
