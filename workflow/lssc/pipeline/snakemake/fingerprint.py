"""A hash of the library code that a stage runs, so that Snakemake reruns what a change of code reaches.

Snakemake sees the command of a rule, not the modules behind it. The hash covers a module and all lssc modules it
imports, however deep, as syntax trees without docstrings: comments and layout do not count.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]


@cache
def fingerprint(*modules: str) -> str:
    """Hash of these modules and of everything of this package they import."""
    closure = sorted(frozenset().union(*(_reach(m) for m in modules)))
    text = "\n".join(f"{module}\n{_code(module)}" for module in closure)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _reach(module: str) -> frozenset[str]:
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        if (current := waiting.pop()) not in seen:
            seen.add(current)
            waiting.extend(_imports(current))
            # Importing a module runs its packages first.
            waiting.extend(filter(_exists, [current.rpartition(".")[0]]))
    return frozenset(seen)


def _file(module: str) -> Path:
    base = ROOT.joinpath(*module.split("."))
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


def _exists(module: str) -> bool:
    # The root package holds the version alone, and a new version is not new code.
    return module.startswith("lssc.") and _file(module).is_file()


@cache
def _imports(module: str) -> tuple[str, ...]:
    found: list[str] = []
    for node in ast.walk(ast.parse(_file(module).read_bytes())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            source = ".".join(filter(None, [_package(module, node.level), node.module]))
            found += [source, *(f"{source}.{alias.name}" for alias in node.names)]
    return tuple(name for name in found if _exists(name))


def _package(module: str, level: int) -> str | None:
    """The package that a relative import of so many dots starts from; None for an absolute one."""
    parts = module.split(".") if _file(module).name == "__init__.py" else module.split(".")[:-1]
    return ".".join(parts[: len(parts) - level + 1]) if level else None


@cache
def _code(module: str) -> str:
    tree = ast.parse(_file(module).read_bytes())
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_docstring(body[0]):
            node.body = body[1:]
    return ast.dump(tree)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
