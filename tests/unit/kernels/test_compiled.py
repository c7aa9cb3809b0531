"""The cache of compiled kernels is never stale, optional and bounded."""

import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest

from lssc.kernels import compiled

CALLER = """
import numba
from lssc.kernels.compiled import kernel
from lssc.kernels.adding import add

@kernel()
def run(x):
    return add(x)

@numba.njit(cache=True)
def run_by_numba_alone(x):
    return add(x)
"""
HELPER = """
from lssc.kernels.compiled import helper

@helper()
def add(x):
    return x + {}
"""
SCRIPT = """
from lssc.kernels import calling, compiled
values = calling.run(1), calling.run_by_numba_alone(1)
print(*values, sum(calling.run.stats.cache_hits.values()), compiled.cache_folder())
"""


@pytest.fixture
def package(tmp_path):
    """A package whose kernel calls a helper in another file that adds 1."""
    folder = tmp_path / "lssc" / "kernels"
    folder.mkdir(parents=True)
    for name in ("../__init__.py", "__init__.py"):
        (folder / name).touch()
    shutil.copy(compiled.__file__, folder)
    (folder / "calling.py").write_text(CALLER)
    (folder / "adding.py").write_text(HELPER.format(1))
    return folder


def run(package, **variables):
    """Run in a new process: result of the kernel, result by Numba's own cache, hits in the kernel's cache, folder."""
    environment = {k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    environment |= {"PYTHONPATH": str(package.parents[1]), **variables}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    *numbers, folder = done.stdout.split()
    return (*map(int, numbers), folder)


def test_changed_helper_recompiles_the_kernel_in_another_file(package):
    folder = str(package / "__pycache__")
    first, again = run(package), run(package)
    assert first[:3] == (2, 2, 0)
    assert again == (2, 2, 1, first[3])
    (package / "adding.py").write_text(HELPER.format(5))
    changed = run(package)
    # The stale 2 is why `compiled` exists. If Numba returns 6 here, its own cache is enough.
    assert changed[:3] == (6, 2, 0)
    assert changed[3] != first[3]
    assert first[3].startswith(folder)


def test_unwritable_package_uses_the_cache_of_the_user_or_none(package, tmp_path):
    (package / "__pycache__").write_text("a file, so that no folder can be made here")
    (package / "calling.py").write_text(CALLER.replace("cache=True", "cache=False"))
    user, nowhere = str(tmp_path / "user"), str(package / "__pycache__" / "user")
    value, _, _, folder = run(package, XDG_CACHE_HOME=user)
    assert value == 2
    assert folder.startswith(user)
    assert run(package, XDG_CACHE_HOME=nowhere) == (2, 2, 0, "None")


NOTICE = "lssc: compiling for this machine (up to half a minute, "


def stderr_of(package, **variables):
    script = "from lssc.kernels import calling; calling.run(1); calling.run(1.0)"
    environment = {k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    environment |= {"PYTHONPATH": str(package.parents[1]), **variables}
    return subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    ).stderr


def test_compilation_is_announced_in_one_line_and_loading_is_silent(package):
    assert stderr_of(package) == NOTICE + "once)\n"
    assert stderr_of(package) == ""


def test_notice_says_that_nothing_is_kept_without_a_writable_folder(package):
    (package / "__pycache__").write_text("a file, so that no folder can be made here")
    (package / "calling.py").write_text(CALLER.replace("cache=True", "cache=False"))
    nowhere = str(package / "__pycache__" / "user")
    expected = NOTICE + "in every process: no cache folder is writable, set NUMBA_CACHE_DIR)\n"
    assert stderr_of(package, XDG_CACHE_HOME=nowhere) == expected


@pytest.mark.parametrize(
    ("platform", "variable", "end"),
    [
        ("win32", "LOCALAPPDATA", "lssc/Cache"),
        ("darwin", "HOME", "Library/Caches/lssc"),
        ("linux", "XDG_CACHE_HOME", "lssc"),
        ("freebsd14", "XDG_CACHE_HOME", "lssc"),
    ],
)
def test_cache_of_the_user_is_where_the_platform_keeps_caches(platform, variable, end, tmp_path, monkeypatch):
    monkeypatch.setattr(compiled.sys, "platform", platform)
    monkeypatch.setenv(variable, str(tmp_path))
    assert compiled._user_folder() == tmp_path / end


def test_user_without_a_home_gets_no_relative_folder(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(compiled.os.path, "expanduser", lambda path: path)
    assert all(parent.is_absolute() for parent in compiled._parents())


def test_every_processor_has_a_folder(monkeypatch):
    def folder(name):
        monkeypatch.setattr(compiled.binding, "get_host_cpu_name", lambda: name)
        return compiled.cache_folder.__wrapped__()

    one, two = folder("one"), folder("two")
    assert one != two
    assert one.parent == two.parent
    one.rmdir()
    two.rmdir()


def test_numba_cache_dir_is_used_first(package, tmp_path):
    assert run(package, NUMBA_CACHE_DIR=str(tmp_path / "chosen"))[3].startswith(str(tmp_path / "chosen"))


def test_old_folders_are_removed_when_a_new_one_is_made(tmp_path):
    for age in range(6):
        old = tmp_path / f"lssc-{age}"
        old.mkdir()
        os.utime(old, (1000 - age, 1000 - age))
    (tmp_path / "other").mkdir()
    assert compiled._is_usable(tmp_path / "lssc-new" / "processor")
    assert compiled._is_usable(tmp_path / "lssc-1" / "processor")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lssc-0", "lssc-1", "lssc-2", "lssc-new", "other"]


def test_package_uses_its_folder_and_keeps_numbas_settings():
    import numba

    from lssc.kernels.gram import add_lower_gram

    assert add_lower_gram.stats.cache_path == str(compiled.cache_folder())
    assert numba.config.CACHE_LOCATOR_CLASSES == ""


def test_disjoint_sets_the_flag_and_does_without_it():
    @compiled.disjoint
    @compiled.helper()
    def double(x):
        return 2 * x

    assert double._compiler._customize_flags(SimpleNamespace(noalias=False)).noalias
    assert compiled.disjoint(len) is len
