"""Fixtures shared with the workflow tests."""

from tests.workflow.conftest import finished, pipeline

__all__ = ["finished", "pipeline"]
