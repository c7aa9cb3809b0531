import shutil

import pytest

import lssc.pipeline.snakemake.fingerprint as module
from lssc.pipeline.snakemake.fingerprint import fingerprint


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A package lssc of three modules in a chain and one apart; `write` changes a module."""
    monkeypatch.setattr(module, "ROOT", tmp_path)

    def write(name, text):
        path = tmp_path / f"lssc/{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        clear()

    write("__init__", "__version__ = '1'\n")
    write("stages/__init__", "")
    write("top", "from lssc import middle\n\ndef f():\n    return middle.g()\n")
    write("middle", "def g():\n    from lssc.deep import h\n    return h()\n")
    write("deep", "import numpy\n\ndef h():\n    return 1\n")
    write("apart", "x = 1\n")
    yield write
    clear()


def clear():
    """Forget what was read: files change within one process here only."""
    for value in vars(module).values():
        if hasattr(value, "cache_clear"):
            value.cache_clear()


def test_comments_docstrings_and_layout_do_not_count(tree):
    before = fingerprint("lssc.top")
    tree("deep", '"""About."""\nimport numpy  # numbers\n\n\n\ndef h():\n    """One."""\n    # why\n    return (1)\n')
    assert fingerprint("lssc.top") == before


@pytest.mark.parametrize(
    "text",
    [
        "import numpy\n\ndef h():\n    return 2\n",
        "import numpy\n\ndef h():\n    return 1\n\ny = 0\n",
        "import scipy\n\ndef h():\n    return 1\n",
    ],
    ids=["value", "addition", "import"],
)
def test_a_change_in_a_module_imported_by_an_imported_one_counts(tree, text):
    before = fingerprint("lssc.top"), fingerprint("lssc.middle"), fingerprint("lssc.apart")
    tree("deep", text)
    after = fingerprint("lssc.top"), fingerprint("lssc.middle"), fingerprint("lssc.apart")
    assert [a == b for a, b in zip(before, after, strict=True)] == [False, False, True]


def test_a_string_that_is_used_counts_though_a_docstring_does_not(tree):
    tree("deep", "def h():\n    return 'a'\n")
    before = fingerprint("lssc.top")
    tree("deep", "def h():\n    return 'b'\n")
    assert fingerprint("lssc.top") != before


@pytest.mark.parametrize("statement", ["import lssc.apart", "from lssc import apart", "from lssc.apart import x"])
def test_every_form_of_import_is_followed(tree, statement):
    tree("top", f"def f():\n    {statement}\n")
    before = fingerprint("lssc.top")
    tree("apart", "x = 2\n")
    assert fingerprint("lssc.top") != before


@pytest.mark.parametrize("statement", ["from . import apart", "from .apart import x"])
def test_relative_imports_are_followed(tree, statement):
    tree("top", f"{statement}\n")
    before = fingerprint("lssc.top")
    tree("apart", "x = 2\n")
    assert fingerprint("lssc.top") != before


def test_a_new_version_is_not_new_code(tree):
    tree("top", "from lssc import __version__\n")
    before = fingerprint("lssc.top")
    tree("__init__", "__version__ = '2'\n")
    assert fingerprint("lssc.top") == before


def test_modules_that_import_each_other_do_not_trap_it(tree):
    tree("apart", "from lssc import top\n")
    tree("deep", "from lssc import apart\n")
    assert fingerprint("lssc.top") == fingerprint("lssc.apart", "lssc.top")


def test_several_modules_count_whatever_their_order(tree):
    assert fingerprint("lssc.top", "lssc.apart") == fingerprint("lssc.apart", "lssc.top") != fingerprint("lssc.top")


def test_a_change_of_the_library_reaches_the_stages_that_use_it(tmp_path, monkeypatch):
    shutil.copytree(module.ROOT / "lssc", tmp_path / "lssc", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(module, "ROOT", tmp_path)
    clear()
    lasso = ("lssc.pipeline.stages.code_points", "lssc.parts.coders.lasso")
    neighbours = ("lssc.pipeline.stages.embed_points", "lssc.parts.embedders.neighbours")
    before = fingerprint(*lasso), fingerprint(*neighbours)
    scaling = tmp_path / "lssc/linalg/scaling.py"
    scaling.write_text(scaling.read_text() + "\nEXTRA = 1\n")
    clear()
    after = fingerprint(*lasso), fingerprint(*neighbours)
    clear()
    assert before[0] == after[0]
    assert before[1] != after[1]
