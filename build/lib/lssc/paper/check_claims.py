"""Judge every claim, one's own first, by the score tables of the experiments run."""

import argparse
import json
import sys
from pathlib import Path

from lssc.errors import ConfigError, exit_with_message
from lssc.paper.claims import CLAIMS
from lssc.paper.own_claims import read_own_claims
from lssc.paper.verdicts import judge_all
from lssc.pipeline.store.files import write_text
from lssc.report.tables import as_csv, read_table


def read_tables(paths: list[Path]) -> dict[str, list[dict[str, str]]]:
    """Experiment -> rows of its table. The folder of a table has the name of its experiment."""
    return {path.parent.name: read_table(path) for path in paths}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", type=Path, nargs="*", default=[])
    parser.add_argument("--agreement", type=Path, nargs="*", default=[])
    parser.add_argument("--own", type=Path, nargs="*", default=[], help="files of claims of one's own")
    parser.add_argument("--out", type=Path, required=True, help="claims, verdicts and findings as JSON")
    parser.add_argument("--table", type=Path, required=True, help="the findings alone as CSV")
    args = parser.parse_args()
    try:
        own = [claim for path in args.own for claim in read_own_claims(path)]
    except ConfigError as error:
        sys.exit(str(error))
    with exit_with_message(args.out):
        claims = judge_all([*own, *CLAIMS], read_tables(args.scores), read_tables(args.agreement))
        rows = [{"claim": claim["id"], "verdict": claim["verdict"], **f} for claim in claims for f in claim["findings"]]
        write_text(args.out, json.dumps(claims, indent=1, allow_nan=False) + "\n")
        write_text(args.table, as_csv(rows) if rows else "claim,verdict\n")
    counts = {verdict: sum(c["verdict"] == verdict for c in claims) for verdict in {c["verdict"] for c in claims}}
    # The log sums up the verdicts.
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())), file=sys.stderr)


if __name__ == "__main__":
    main()
