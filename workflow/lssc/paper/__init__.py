"""The paper's claims, and how they are judged. A command of a run goes to the run's server."""

from lssc.pipeline.server.client import hand_over

hand_over()
