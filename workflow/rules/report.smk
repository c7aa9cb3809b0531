rule gather_scores:
    input:
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
        config=experiment_config,
        code=numerics("gather_scores"),
    shell:
        "python -m lssc.report.stages.gather_scores --config {params.config:q} --experiment {wildcards.experiment:q}"
        " --sources {input.sources:q} --out {output.table:q} --provenance {output.provenance:q} 2> {log:q}"


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
            "python -m lssc.report.stages.draw_pictures --images {input.images:q} --recipe {params.recipe:q}"
            " --out {output:q} 2> {log:q}"


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
        recipe=compare_recipe,
        code=numerics("compare_embeddings"),
    shell:
        "python -m lssc.report.stages.compare_embeddings --recipe {params.recipe:q} --out {output:q} 2> {log:q}"


rule check_claims:
    input:
        scores=judged("scores.csv"),
        agreement=judged("agreement.csv", results.comparing(study)),
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
        code=numerics("check_claims"),
    shell:
        "python -m lssc.paper.check_claims --scores {input.scores:q} --agreement {input.agreement:q} --own {input.own:q}"
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
        config=as_it_is(recipes.report_config(study)),
        code=numerics("write_report"),
    shell:
        "python -m lssc.report.stages.write_report --config {params.config:q} --claims {input.claims:q} --out {output:q} 2> {log:q}"
