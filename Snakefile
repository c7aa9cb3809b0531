# Large-scale sparse subspace clustering using landmarks: config in, the paper's figures out.
from snakemake.utils import min_version

min_version("9.0")


configfile: workflow.source_path("config/config.yaml")


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/cluster.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        every_result(),
