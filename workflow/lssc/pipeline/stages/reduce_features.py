"""Bring the features of a whole collection to fewer dimensions: principal components of all images."""

import contextlib
from pathlib import Path

import numpy as np

from lssc.errors import exit_with_message
from lssc.linalg.pca import Pca, fit_pca, flat_features
from lssc.pipeline.store.artifacts import reading, writing
from lssc.pipeline.store.features import ONLY, Features, feature_record
from lssc.pipeline.timing import timed
from lssc.pipeline.trials import stage_parser


def reduce_features(features: Features, *, path_maximum: bool, centre: bool, dim: int) -> tuple[Pca, np.ndarray]:
    """The principal components of all images, and the images' coordinates."""

    def flat():
        return (flat_features(block, path_maximum=path_maximum) for block in features.blocks())

    pca = fit_pca(flat(), dim=dim, centre=centre)
    return pca, np.concatenate([pca.project(block).astype(np.float32) for block in flat()])


def main() -> None:
    parser = stage_parser()
    parser.add_argument("--features", type=Path, nargs="+", required=True)
    args = parser.parse_args()
    with exit_with_message(args.out), contextlib.ExitStack() as stack:
        features = Features([stack.enter_context(reading(path)) for path in args.features])
        (pca, reduced), spent = timed(reduce_features, features, **args.recipe)
        facts = {**spent, "recipe": args.recipe, "variances": pca.variances.tolist()}
        with writing(args.out, args.recipe, args.code) as writer:
            writer.add(ONLY, feature_record(reduced, features.labels, facts))


if __name__ == "__main__":
    main()
