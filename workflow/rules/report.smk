rule gather_scores:
    input:
        scores_of,
    output:
        table=paths.experiment("scores.csv"),
        provenance=paths.experiment("provenance.json"),
    log:
        paths.experiment("scores.log"),
    conda:
        "../../envs/environment.yaml"
    threads: 1
    params:
        config=experiment_config,
        code=fingerprint("lssc.stages.gather_scores"),
    shell:
        "python -m lssc.stages.gather_scores --config {params.config:q} --experiment {wildcards.experiment}"
        " --out {output.table:q} --provenance {output.provenance:q} 2> {log:q}"


rule plot_figure:
    input:
        paths.experiment("scores.csv"),
    output:
        pdf=paths.experiment("figures/{figure}.pdf"),
        png=paths.experiment("figures/{figure}.png"),
        table=paths.experiment("figures/{figure}.csv"),
    log:
        paths.experiment("figures/{figure}.log"),
    conda:
        "../../envs/environment.yaml"
    threads: 1
    params:
        figure=figure_recipe,
        code=fingerprint("lssc.stages.plot_figure"),
    shell:
        "python -m lssc.stages.plot_figure --scores {input:q} --figure {params.figure:q}"
        " --pdf {output.pdf:q} --png {output.png:q} --table {output.table:q} 2> {log:q}"


rule choose_parameters:
    input:
        paths.experiment("scores.csv"),
    output:
        table=paths.experiment("sweep.csv"),
        best=paths.experiment("best.csv"),
        pdf=paths.experiment("sweep.pdf"),
        png=paths.experiment("sweep.png"),
    log:
        paths.experiment("best.log"),
    conda:
        "../../envs/environment.yaml"
    threads: 1
    params:
        held=held_values,
        code=fingerprint("lssc.stages.choose_parameters"),
    shell:
        "python -m lssc.stages.choose_parameters --scores {input:q} --held {params.held:q}"
        " --table {output.table:q} --best {output.best:q} --pdf {output.pdf:q} --png {output.png:q} 2> {log:q}"
