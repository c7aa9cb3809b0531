"""The command `lssc`: a table of its subcommands, one module of `lssc.commands` each."""

from __future__ import annotations

import argparse
import importlib
import sys

from lssc.errors import ConfigError, DamagedArtifact, InputError

# Subcommand and module -> its line in `lssc --help`.
COMMANDS = {
    "fit": "cluster the points of a file",
    "predict": "label the points of a file by a model that `lssc fit` saved",
    "labels": "write the labels of a finished run of the pipeline as CSV files",
    "compile": "compile the kernels of estimators now, not in the first fit",
}
# Packages of the extra `files`; other optional ones belong to `pipeline`.
FILES_EXTRA = ("h5py", "pyarrow", "skops", "zarr")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="lssc", description="Large-scale sparse subspace clustering.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, summary in COMMANDS.items():
        module = importlib.import_module(f"lssc.commands.{name}")
        command = commands.add_parser(name, help=summary, description=module.__doc__)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    args = parser.parse_args(arguments)
    try:
        args.run(args)
    except (ConfigError, DamagedArtifact, InputError, OSError) as error:
        sys.exit(f"lssc {args.command}: {error}")
    except ModuleNotFoundError as error:
        extra = "files" if (error.name or "").partition(".")[0] in FILES_EXTRA else "pipeline"
        sys.exit(f"lssc {args.command} needs the package {error.name!r}; install it with: pip install 'lssc[{extra}]'")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
