"""The runs of the workflow's tests serve here, too."""

from tests.workflow.conftest import finished, pipeline

__all__ = ["finished", "pipeline"]
