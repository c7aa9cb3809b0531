"""Files have at most 400 lines, functions of the package at most 40."""

import ast

from tests.conftest import REPO

MAX_FILE_LINES, MAX_FUNCTION_LINES = 400, 40
PACKAGE = sorted(REPO.glob("workflow/**/*.py"))
FOLDERS = ("tests/**", "benchmarks", "docs", "docs/_ext", "docs/examples")
OTHERS = ("workflow/rules/*.smk", *(f"{folder}/*.py" for folder in FOLDERS))
FILES = [*PACKAGE, *(path for pattern in OTHERS for path in sorted(REPO.glob(pattern)))]


def test_files_are_short():
    lengths = {str(path.relative_to(REPO)): len(path.read_text().splitlines()) for path in FILES}
    assert len(lengths) > 150
    assert {name: lines for name, lines in lengths.items() if lines > MAX_FILE_LINES} == {}


def test_functions_are_short():
    functions = {
        f"{path.relative_to(REPO)}:{node.name}": node.end_lineno - node.lineno + 1
        for path in PACKAGE
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert len(functions) > 500
    assert {name: lines for name, lines in functions.items() if lines > MAX_FUNCTION_LINES} == {}
