"""Changes of numerics change the fingerprint of the jobs that run them; nothing else does."""

import ast
import re
import shutil
from functools import cache

import pytest

from lssc.parts.registry import names
from lssc.pipeline.snakemake import fingerprint as module
from lssc.pipeline.study.steps import STEPS

ROOT = module.ROOT
JOBS = [(step.rule, step.kind, name) for step in STEPS for name in names(step.kind)]
JOBS += [("generate_data", "dataset", name) for name in names("dataset")]
JOBS += [("featurise_images", "features", name) for name in names("features")]
JOBS += [(rule, None, None) for rule in ("reduce_features", "score_labels", "compare_embeddings", "check_claims")]


def copy_library(folder):
    shutil.copytree(ROOT / "lssc", folder / "lssc", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "lssc"


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """A copy of the library, in which every edit is taken back."""
    return copy_library(tmp_path_factory.mktemp("library"))


@pytest.fixture
def library(copied, monkeypatch):
    """The copy, from which the fingerprints are computed."""
    monkeypatch.setattr(module, "ROOT", copied.parent)
    yield copied
    forget()


def forget():
    for cached in vars(module).values():
        if hasattr(cached, "cache_clear"):
            cached.cache_clear()


def fingerprints():
    forget()
    return {job: module.fingerprint(*job) for job in JOBS}


@cache
def unchanged():
    """The fingerprints of the library as it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROOT", ROOT)
        return fingerprints()


def changed(library, file, old, new):
    """The jobs whose fingerprint changes with this edit, which is then taken back."""
    before, path = unchanged(), library / file
    text = path.read_text()
    assert re.search(old, text), f"{file} has no {old}"
    path.write_text(re.sub(old, new, text, count=1))
    try:
        after = fingerprints()
    finally:
        path.write_text(text)
    return {job for job in JOBS if before[job] != after[job]}


def test_every_job_with_numerics_has_its_own_fingerprint():
    made = unchanged()
    assert len({made[job] for job in JOBS}) == len(JOBS)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("kernels/lasso.py", r'"""[^"]+"""', '"""Something else."""'),
        ("linalg/pca.py", r"raise InputError\(", 'raise InputError("reworded", '),
        ("parts/params.py", r"\Z", "\n\nclass Even:\n    pass\n"),
        ("parts/inputs.py", r"MAX_MAGNITUDE = 1e100", "MAX_MAGNITUDE = 1e90"),
        ("parts/registry.py", r"unknown \{kind\}", "no {kind}"),
        ("parts/coders/lasso.py", r"Annotated\[float, Above\(0\)\]", "float"),
        ("report/curves.py", r"set_ylim\(top=1.0\)", "set_ylim(top=2.0)"),
        ("report/page.html", r"<h2>", "<h2 class='x'>"),
        ("pipeline/trials.py", r"def run_stage", "def run_a_stage"),
        ("errors.py", r"\Z", "\nEXTRA = 1\n"),
        ("__init__.py", r'__version__ = "[^"]+"', '__version__ = "9"'),
    ],
    ids=lambda value: value if str(value).endswith((".py", ".html")) else "",
)
def test_messages_and_plumbing_change_nothing(library, file, old, new):
    assert changed(library, file, old, new) == set()


def test_moving_a_module_changes_nothing(tmp_path, library, monkeypatch):
    moved = copy_library(tmp_path)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    (moved / "kernels/omp.py").rename(moved / "linalg/matching_pursuit.py")
    for path in moved.rglob("*.py"):
        path.write_text(path.read_text().replace("lssc.kernels.omp", "lssc.linalg.matching_pursuit"))
    assert fingerprints() == unchanged()


def test_changed_kernel_changes_its_jobs_alone(library):
    assert changed(library, "kernels/omp.py", r"\Z", "\nEXTRA = 1\n") == set()
    assert changed(library, "kernels/gram.py", r"\+= value", "-= value") == {
        ("embed_points", "embedder", "landmark_svd"),
        ("embed_points", "embedder", "cocluster"),
        ("embed_points", "embedder", "lsc"),
    }
    kmeans = {
        ("cluster_points", "clusterer", "kmeans"),
        *(("apply_method", "method", name) for name in ("kmeans", "spherical_kmeans", "knn_spectral", "umap_hdbscan")),
        ("apply_method", "method", "kfsc"),
        ("refine_labels", "refiner", "affine_subspaces"),
    }
    assert changed(library, "kernels/kmeans.py", r"min\(", "max(") == kmeans


def test_changed_constant_or_helper_reaches_all_that_use_it(library):
    hit = changed(library, "linalg/scaling.py", r"def unit_rows\(.*\n(?:.*\n)*?    (?=\w)", "\\g<0>X = 2 * X\n    ")
    assert ("generate_data", "dataset", "synthetic") in hit
    assert ("embed_points", "embedder", "affinity") in hit
    assert ("cluster_points", "clusterer", "kmeans") not in hit
    assert ("score_labels", None, None) not in hit


def test_scores_follow_the_metrics_and_verdicts_follow_the_claims(library):
    assert ("score_labels", None, None) in changed(library, "metrics.py", r"def scores\(", "def scores(extra=1, *, ")
    assert changed(library, "paper/claims.py", r"EQUALLY_ACCURATE = 0.01", "EQUALLY_ACCURATE = 0.02") == {
        ("check_claims", None, None)
    }


def test_raised_format_reruns_its_rule(monkeypatch):
    before = module.numerics("score_labels")
    monkeypatch.setitem(module.FORMATS, "score_labels", 2)
    forget()
    assert module.numerics("score_labels") != before
    forget()


def test_modules_of_numerics_do_nothing_but_define():
    """A statement that acts when a module is imported would escape the fingerprint."""
    allowed = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign
    for room in ("kernels", "linalg", "data", "parts"):
        for path in (module.ROOT / "lssc" / room).rglob("*.py"):
            for node in ast.parse(path.read_bytes()).body:
                is_main = isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)
                assert isinstance(node, allowed) or module._is_docstring(node) or is_main, f"{path.name}:{node.lineno}"
