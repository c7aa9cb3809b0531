localrules:
    describe_experiment,


# Lists of files can be too long for a command: they are written to a file of the experiment.
rule describe_experiment:
    output:
        paths.experiment("experiment.json"),
    log:
        paths.experiment("experiment.log"),
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **requests("describe_experiment"),
    params:
        config=experiment_config,
        code=numerics("describe_experiment"),
    shell:
        "python -m lssc.report.stages.describe_experiment --config {params.config:q}"
        " --experiment {wildcards.experiment:q} --out {output:q} 2> {log:q}"


rule gather_scores:
    input:
        description=paths.experiment("experiment.json"),
        scores=scores_of,
        sources=sources_of,
    output:
        table=report(
            paths.experiment("scores.csv"),
            caption="../report/scores.rst",
            category="Tables",
            subcategory="{experiment}",
            labels={"name": "scores"},
        ),
        provenance=paths.experiment("provenance.json"),
    log:
        paths.experiment("scores.log"),
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **requests("gather_scores"),
    params:
        code=numerics("gather_scores"),
    shell:
        "python -m lssc.report.stages.gather_scores --description {input.description:q} --sources {input.sources:q}"
        " --out {output.table:q} --provenance {output.provenance:q} 2> {log:q}"


# One job draws all figures of an experiment: starting the drawing library takes longer than drawing. Only config knows
# how many there are, so each experiment has a rule of its own.
for experiment in [id for id in study.experiments if results.figures_of(study, id)]:

    rule:
        name:
            f"plot_{experiment}"
        input:
            paths.experiment("scores.csv").format(experiment=experiment),
        output:
            in_report(results.figures_of(study, experiment), "Figures", "figure", experiment),
        log:
            paths.experiment("figures.log").format(experiment=experiment),
        conda:
            "../../envs/environment.yaml"
        threads: 1
        resources:
            **requests("plot_figures", experiment=experiment),
        params:
            figures=as_it_is(recipes.figures_recipe(study, experiment)),
            code=numerics("plot_figures"),
        shell:
            "python -m lssc.report.stages.plot_figures --scores {input:q} --figures {params.figures:q}"
            " --out {output:q} 2> {log:q}"


for experiment in [id for id, planned in study.experiments.items() if planned.pictures]:

    rule:
        name:
            f"draw_{experiment}"
        input:
            images=images_of(experiment),
            artifacts=pictured(experiment),
        output:
            in_report(results.pictures_of(study, experiment), "Pictures", "picture", experiment),
        log:
            paths.experiment("pictures.log").format(experiment=experiment),
        conda:
            "../../envs/environment.yaml"
        threads: 1
        resources:
            **requests("draw_pictures", experiment=experiment),
        params:
            recipe=as_it_is(recipes.pictures_recipe(study, experiment)),
            code=numerics("draw_pictures"),
        shell:
            "python -m lssc.report.stages.draw_pictures --images {input.images:q} --artifacts {input.artifacts:q}"
            " --recipe {params.recipe:q} --out {output:q} 2> {log:q}"


rule compare_embeddings:
    input:
        compared,
    output:
        paths.experiment("agreement.csv"),
    log:
        paths.experiment("agreement.log"),
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **requests("compare_embeddings"),
    params:
        pairs=compare_recipe,
        code=numerics("compare_embeddings"),
    shell:
        "python -m lssc.report.stages.compare_embeddings --files {input:q} --pairs {params.pairs:q} --out {output:q} 2> {log:q}"


rule check_claims:
    input:
        scores=in_experiments("scores.csv", results.judged(study)),
        agreement=in_experiments("agreement.csv", results.comparing(study)),
        own=own_claims,
    output:
        claims=paths.claims,
        findings=report(
            paths.findings,
            caption="../report/claims.rst",
            category="Claims",
            labels={"name": "findings"},
        ),
    log:
        log_of(paths.claims),
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **requests("check_claims"),
    params:
        scores=as_it_is(existing("scores.csv")),
        agreement=as_it_is(existing("agreement.csv")),
        code=numerics("check_claims"),
    shell:
        "python -m lssc.paper.check_claims --scores {input.scores:q} {params.scores:q}"
        " --agreement {input.agreement:q} {params.agreement:q} --own {input.own:q}"
        " --out {output.claims:q} --table {output.findings:q} 2> {log:q}"


rule choose_parameters:
    input:
        paths.experiment("scores.csv"),
    output:
        table=paths.experiment("sweep.csv"),
        best=report(
            paths.experiment("best.csv"),
            caption="../report/best.rst",
            category="Parameters",
            subcategory="{experiment}",
            labels={"name": "best"},
        ),
        pdf=paths.experiment("sweep.pdf"),
        png=report(
            paths.experiment("sweep.png"),
            caption="../report/sweep.rst",
            category="Parameters",
            subcategory="{experiment}",
            labels={"name": "sweep"},
        ),
    log:
        paths.experiment("best.log"),
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **requests("choose_parameters"),
    params:
        held=held_values,
        datasets=dataset_labels,
        code=numerics("choose_parameters"),
    shell:
        "python -m lssc.report.stages.choose_parameters --scores {input:q} --held {params.held:q} --datasets {params.datasets:q}"
        " --table {output.table:q} --best {output.best:q} --pdf {output.pdf:q} --png {output.png:q} 2> {log:q}"


rule write_report:
    input:
        claims=paths.claims,
        findings=paths.findings,
        descriptions=in_experiments("experiment.json", study.run),
        shown=[path for id in study.run for path in results.results_of(study, id)],
    output:
        report(
            paths.report,
            caption="../report/report.rst",
            category="Claims",
            labels={"name": "report"},
        ),
    log:
        log_of(paths.report),
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **requests("write_report"),
    params:
        experiments=as_it_is(in_experiments("", study.run)),
        earlier=as_it_is(in_experiments("", earlier)),
        code=numerics("write_report"),
    shell:
        "python -m lssc.report.stages.write_report --claims {input.claims:q} --findings {input.findings:q}"
        " --experiments {params.experiments:q} --earlier {params.earlier:q} --out {output:q} 2> {log:q}"
