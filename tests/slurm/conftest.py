"""Runs through a real Slurm, and a local one to compare with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lssc.pipeline.store.locks import read_owner
from tests.crash.test_crash import begin
from tests.slurm.cluster import Cluster, Unavailable
from tests.workflow.conftest import REPO, Pipeline, finished

__all__ = ["begin", "finished"]

# Options for jobs of seconds: short waits between status checks, and small groups, as the Slurm plugin checks less
# often the longer no job ends.
QUICK = {
    "slurm": ("--group-components", "codes=1", "--slurm-init-seconds-before-status-checks", "3"),
    "cluster-generic": ("--seconds-between-status-checks", "2"),
}


class Remote(Pipeline):
    """A working folder whose runs use a cluster profile, with all or some of the methods."""

    def __init__(
        self, folder: Path, profile: str, methods: list[str] | None = None, options: tuple[str, ...] = ()
    ) -> None:
        super().__init__(folder)
        self.profile, self.options = profile, options
        self.experiment["methods"] = methods or self.experiment["methods"]

    def command(self, *options: str, cores: int | None = None) -> list[str]:
        profile = ("--profile", str(REPO / "profiles" / self.profile), *QUICK[self.profile])
        return super().command(*profile, *options, *self.options, cores=None)

    @property
    def output(self) -> str:
        return (self.folder / "output").read_text()

    @property
    def owner(self) -> str | None:
        """The id of the run that owns the results or owned them last."""
        owner = read_owner(self.folder / "results")
        return owner.id if owner else None


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    try:
        with Cluster() as cluster:
            yield cluster
    except Unavailable as reason:
        pytest.exit(f"test-slurm cannot run here: {reason}", returncode=1)


@pytest.fixture(autouse=True)
def _left_clean(cluster: Cluster) -> Iterator[None]:
    """Cancels jobs that a failed test left in the queue."""
    yield
    cluster.cancel_all()
