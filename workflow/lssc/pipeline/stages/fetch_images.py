"""Bring the four files of an image collection here, from the first source that has them, and check every byte."""

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lssc.data.images import FILES, check_images, find_files
from lssc.errors import InputError, exit_with_message
from lssc.pipeline.fetching import fetch_files
from lssc.pipeline.store.files import sealing, write_text


def fetch(recipe: Mapping[str, Any], scratch: Path) -> tuple[str, dict[str, bytes]]:
    """Where the files came from, and their content; InputError with every reason if no source has them."""
    return fetch_files(recipe, "images", FILES, scratch, lambda folder: _checked_files(folder, recipe))


def _checked_files(folder: Path, recipe: Mapping[str, Any]) -> dict[str, bytes]:
    files = find_files(folder)
    try:
        check_images(files, sha256=recipe["sha256"], counts=recipe["counts"])
    except InputError as error:
        raise InputError(f"{folder}: {error}; refused") from None
    return files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", type=json.loads, required=True, help="JSON, as Snakemake prints it")
    parser.add_argument("--out", type=Path, nargs=len(FILES), required=True)
    parser.add_argument("--source", type=Path, required=True, help="JSON file that says where the files came from")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        try:
            source, files = fetch(args.recipe, Path(scratch))
        except (InputError, OSError) as error:
            sys.exit(f"images {args.recipe['images']}: {error}")
    with exit_with_message(args.source.parent):
        for path in args.out:
            with sealing(path) as temporary:
                temporary.write_bytes(files[path.name])
        record = {"source": source, "sha256": args.recipe["sha256"], "images_per_class": args.recipe["counts"]}
        write_text(args.source, json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
