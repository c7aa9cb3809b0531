"""A hash of the numerics that a job runs: Snakemake reruns a job when its command or params change, not its modules.

The hash covers definitions (functions, classes, constants), not files: a part's function and every definition of parts,
kernels, linalg, data and metrics that it reaches by name. Docstrings, comments, annotations, error messages, imports
and the names of modules do not count, so rewording an error or moving a module reruns nothing. Plumbing does not
count either: its format number below is raised by hand when the meaning of a file changes.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from lssc.parts.registry import module_of
from lssc.pipeline.study.model import Part

ROOT = Path(__file__).parents[3]
# Rooms of numerics. The claims are input of the rule that judges them, so they count as well.
ROOMS = ("parts", "kernels", "linalg", "data", "metrics", "types", "paper")
PLUMBING = tuple(f"lssc.parts.{name}" for name in ("registry", "params", "inputs", "results", "timing", "compiling"))
STAGES = ("lssc.pipeline.stages", "lssc.report.stages", "lssc.paper")
# Rule -> format of its files where it is not 1. Raise it when the files come to mean something else.
FORMATS: dict[str, int] = {}

Definition = tuple[str, str]  # module, name


def numerics(rule: str, part: Part | None = None) -> str:
    """The format of a rule's files, and a hash of the numerics that its stage and this part run."""
    return fingerprint(rule, part and part.kind, part and part.name)


@cache
def fingerprint(rule: str, kind: str | None, name: str | None) -> str:
    roots = list(_imported_by_stage(rule))
    if kind and name:
        roots.append(_part_function(kind, name))
    texts = sorted(_text(definition) for definition in _reach(roots))
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]
    return f"{FORMATS.get(rule, 1)}-{digest}"


def _reach(roots: list[Definition]) -> set[Definition]:
    """These definitions and every definition of numerics that they reach."""
    seen: set[Definition] = set()
    waiting = list(roots)
    while waiting:
        if (current := waiting.pop()) not in seen:
            seen.add(current)
            waiting.extend(_used_by(current))
    return seen


@cache
def _used_by(definition: Definition) -> tuple[Definition, ...]:
    names = set(_names(_numerics_of(definition)))
    return tuple(found for used in names if (found := _resolve(definition[0], used)))


def _names(tree: ast.AST) -> Iterator[str]:
    """Names that code uses, and `module.name` where it uses attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"


def _resolve(module: str, name: str) -> Definition | None:
    """The definition of numerics that a name means in a module; None if it means something else."""
    owner, _, attribute = name.rpartition(".")
    if owner:
        source = _imports(module).get(owner)
        target = source and ".".join(filter(None, source))
        return _counted(target, attribute) if target and _is_module(target) else None
    if name in _definitions(module):
        return _counted(module, name)
    if source := _imports(module).get(name):
        return _counted(*source)
    return None


def _counted(module: str, name: str) -> Definition | None:
    """The definition, if it counts; classes of `types` only carry values between steps."""
    room = module.split(".")[1] if module.startswith("lssc.") else ""
    if room not in ROOMS or module in PLUMBING or not _is_module(module) or name not in _definitions(module):
        return None
    if room == "types" and isinstance(_definitions(module)[name], ast.ClassDef):
        return None
    return module, name


def _imported_by_stage(rule: str) -> Iterator[Definition]:
    """The numerics that the stage module of a rule imports."""
    module = next(f"{package}.{rule}" for package in STAGES if _is_module(f"{package}.{rule}"))
    yield from filter(None, (_counted(*source) for source in _imports(module).values()))


def _part_function(kind: str, name: str) -> Definition:
    """The function that is registered as this part."""
    module = module_of(kind, name)
    for function, node in _definitions(module).items():
        for decorator in getattr(node, "decorator_list", ()):
            if _is_registration(decorator) and [getattr(a, "value", None) for a in decorator.args] == [kind, name]:
                return module, function
    raise LookupError(f"{module}: no function is decorated with @component({kind!r}, {name!r})")


def _is_registration(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "component"


def _file(module: str) -> Path:
    return ROOT.joinpath(*module.split(".")).with_suffix(".py")


def _is_module(module: str) -> bool:
    return _file(module).is_file()


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(_file(module).read_bytes())


@cache
def _definitions(module: str) -> dict[str, ast.stmt]:
    """Name -> the statement at the top of a module that defines it."""
    found: dict[str, ast.stmt] = {}
    for node in _tree(module).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in filter(None, targets):
            found |= {part.id: node for part in ast.walk(target) if isinstance(part, ast.Name)}
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
    return found


@cache
def _imports(module: str) -> dict[str, Definition]:
    """Name -> what it was imported from, anywhere in a module: (module, name), or (module, "") for a whole module."""
    found: dict[str, Definition] = {}
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.Import):
            found |= {alias.asname: (alias.name, "") for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
    return found


@cache
def _text(definition: Definition) -> str:
    return ast.dump(_numerics_of(definition))


@cache
def _numerics_of(definition: Definition) -> ast.AST:
    module, name = definition
    return _Numerics().visit(_definitions(module)[name])


class _Numerics(ast.NodeTransformer):
    """Copies code without docstrings, annotations, messages, imports of this package and registration."""

    def visit(self, node: ast.AST) -> ast.AST:
        copied = type(node)(**{field: getattr(node, field) for field in node._fields if hasattr(node, field)})
        if isinstance(getattr(copied, "body", None), list):
            copied.body = [inner for inner in copied.body if not _is_docstring(inner)]
        return super().visit(copied)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        node.decorator_list = [decorator for decorator in node.decorator_list if not _is_registration(decorator)]
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        return self.generic_visit(ast.Assign([node.target], node.value)) if node.value else None

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return ast.Raise(node.exc.func if isinstance(node.exc, ast.Call) else node.exc, None)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        return None if (node.module or "").partition(".")[0] == "lssc" else node


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
