"""Turn one shard of an image collection into features."""

from pathlib import Path

from lssc.data.images import read_images
from lssc.errors import exit_with_message
from lssc.parts.registry import find
from lssc.pipeline.store.artifacts import writing
from lssc.pipeline.store.features import ONLY, feature_record
from lssc.pipeline.timing import timed
from lssc.pipeline.trials import stage_parser


def main() -> None:
    parser = stage_parser()
    parser.add_argument("--images", type=Path, nargs="+", required=True)
    args = parser.parse_args()
    recipe, part = args.recipe, args.recipe["part"]
    transform = find("features", part["name"])
    transform.warm_up()
    with exit_with_message(args.out):
        images = read_images(args.images, sha256=recipe["sha256"])
        rows = slice(recipe["first"], recipe["last"] + 1)
        features, spent = timed(transform, images.pixels[rows], **part["params"])
        with writing(args.out, args.recipe, args.code) as writer:
            writer.add(ONLY, feature_record(features, images.labels[rows], {**spent, "recipe": recipe}))


if __name__ == "__main__":
    main()
