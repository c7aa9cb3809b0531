"""Fetch the files of a table from the first source that has them, check every byte, and write its points."""

import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lssc.data.tables import Table, check_table, checked_files
from lssc.errors import InputError, exit_with_message
from lssc.parts.registry import find
from lssc.pipeline.fetching import fetch_files
from lssc.pipeline.store.artifacts import writing
from lssc.pipeline.store.features import ONLY, feature_record
from lssc.pipeline.store.files import write_text
from lssc.pipeline.trials import stage_parser


def fetch(recipe: Mapping[str, Any], scratch: Path) -> tuple[str, Table]:
    """Where the table came from, and its points; InputError with every reason if no source has it."""

    def read(folder: Path) -> Table:
        plain = Path(tempfile.mkdtemp(dir=scratch))
        try:
            paths = checked_files(folder, recipe["sha256"], plain)
            table = find("reader", recipe["reader"]["name"])(paths, **recipe["reader"]["params"])
            check_table(table, counts=recipe["counts"], columns=recipe["columns"])
        except InputError as error:
            raise InputError(f"{folder}: {str(error).replace(f'{folder}: ', '').replace(f'{plain}/', '')}") from None
        return table

    return fetch_files(recipe, "table", list(recipe["sha256"]), scratch, read)


def main() -> None:
    parser = stage_parser()
    parser.add_argument("--source", type=Path, required=True, help="JSON file that says where the table came from")
    args = parser.parse_args()
    recipe = args.recipe
    with tempfile.TemporaryDirectory() as scratch:
        try:
            source, table = fetch(recipe, Path(scratch))
        except (InputError, OSError) as error:
            sys.exit(f"table {recipe['table']}: {error}")
    with exit_with_message(args.out):
        record = {"source": source, "sha256": recipe["sha256"], "points_per_class": recipe["counts"]}
        with writing(args.out, recipe, args.code) as writer:
            facts = {"recipe": recipe, "classes": list(table.labels.names)}
            writer.add(ONLY, feature_record(table.X, table.labels.numbers, facts))
        write_text(args.source, json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
