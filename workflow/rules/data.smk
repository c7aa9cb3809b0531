rule generate_data:
    output:
        paths.data,
    log:
        log_of(paths.data),
    conda:
        "../../envs/environment.yaml"
    threads: 1
    params:
        recipe=data_recipe,
        code=data_code,
    shell:
        "python -m lssc.stages.generate_data"
        " --recipe {params.recipe:q} --code {params.code} --out {output:q} 2> {log:q}"
