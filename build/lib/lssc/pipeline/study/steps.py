"""The table of steps: which rules make a method's labels, and what each reads, makes and runs.

Paths, recipes, score columns, runtimes by step and the checks of config follow from this table. A new step is one entry
here, one rule and one stage module of the rule's name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Step:
    """A rule that runs one part of a method.

    It reads the artifacts in `reads` and writes the artifact `makes` into its folder `level`. `verb` begins its columns
    in the score table. A method may leave an `optional` step out.
    """

    rule: str
    kind: str
    verb: str
    reads: tuple[str, ...]
    makes: str
    level: str = ""
    optional: bool = False

    @property
    def folder(self) -> str:
        """The path pattern of its folder level."""
        return self.level or f"{{{self.kind}}}"


# Landmark methods run these in order; optional steps come last.
CHAIN = (
    Step("select_landmarks", "selector", "select", ("data",), "landmarks", level="{selector}-m{m}"),
    Step("code_points", "coder", "code", ("data", "landmarks"), "codes"),
    Step("embed_points", "embedder", "embed", ("codes",), "embedding"),
    Step("cluster_points", "clusterer", "cluster", ("embedding",), "labels"),
    Step("refine_labels", "refiner", "refine", ("data", "labels"), "refined", optional=True),
)
# A whole method goes from points to labels in one step.
WHOLE = Step("apply_method", "method", "apply", ("data",), "clusters")
STEPS = (*CHAIN, WHOLE)
KINDS = tuple(step.kind for step in STEPS)
# The part a method runs where config names none.
DEFAULT_PARTS = {"clusterer": "kmeans"}


@cache
def step_of(name: str) -> Step:
    """The step of this rule, kind of part, artifact or verb."""
    return next(step for step in STEPS if name in (step.rule, step.kind, step.makes, step.verb))


def route_to(step: Step) -> tuple[Step, ...]:
    """The steps from the points to this one, itself included."""
    return CHAIN[: CHAIN.index(step) + 1] if step in CHAIN else (step,)


def steps_of_chain(chain: str) -> tuple[Step, ...]:
    """The steps behind a path such as `uniform-m9/lasso.lam=10/landmark_svd/kmeans`."""
    levels = chain.count("/") + 1
    return (WHOLE,) if levels == 1 else CHAIN[:levels]
