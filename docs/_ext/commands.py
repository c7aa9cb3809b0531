"""Directives `command-help` and `make-help`: what the program itself prints, as it is when the site is built."""

import contextlib
import io
import os
import subprocess
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from lssc.cli import main

REPO = Path(__file__).parents[2]


class CommandHelp(Directive):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        printed = io.StringIO()
        # The width that argparse wraps to.
        os.environ["COLUMNS"] = "88"
        with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
            main([self.arguments[0], "--help"])
        return [nodes.literal_block(text=printed.getvalue(), language="text")]


class MakeHelp(Directive):
    def run(self) -> list[nodes.Node]:
        done = subprocess.run(["make", "-C", REPO, "--no-print-directory", "help"], capture_output=True, check=True)
        return [nodes.literal_block(text=done.stdout.decode(), language="text")]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("command-help", CommandHelp)
    app.add_directive("make-help", MakeHelp)
    return {"parallel_read_safe": True}
