"""Snakemake's logger plugin `lssc`, under the name by which Snakemake finds it.

Snakemake imports it before it reads a config file, so the patch of its config reader is applied here. The workflow may
load another copy of the library; the `facts` of this one are what the display reads.
"""

from dataclasses import dataclass, field

from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase

from lssc.pipeline.snakemake.display import ProgressHandler as LogHandler
from lssc.pipeline.snakemake.patches import read_config_as_data
from lssc.pipeline.snakemake.progress import facts

__all__ = ["LogHandler", "LogHandlerSettings", "facts"]


@dataclass
class LogHandlerSettings(LogHandlerSettingsBase):
    """Snakemake makes the option `--logger-lssc-show-jobs` of the field."""

    show_jobs: bool = field(
        default=False, metadata={"help": "Print Snakemake's own messages, with a block for every job."}
    )


read_config_as_data()
