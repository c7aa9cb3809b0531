# Large-scale sparse subspace clustering using landmarks: config in, the paper's figures out.
import logging

from snakemake.utils import min_version

min_version("9.27")
# On a full disk Snakemake's log file takes no more lines; what is shown must not drown in tracebacks about it.
logging.raiseExceptions = False


configfile: f"{workflow.basedir}/config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/cluster.smk"
include: "workflow/rules/report.smk"


onstart:
    lssc_hooks.start(workflow, study)


onsuccess:
    warn_of_uncoded_points()


rule all:
    default_target: True
    input:
        every_result(),
