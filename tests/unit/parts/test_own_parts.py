"""A part of one's own that is wrong is reported in one line that names it, in its own step."""

import sys

import numpy as np
import pytest
from scipy import sparse

from lssc.errors import InputError
from lssc.parts import registry
from lssc.parts.registry import Component, find
from lssc.parts.results import require_result
from lssc.types import Clusters, Codes, Embedding, Landmarks, Points

N, M, K = 6, 3, 2
HEAD = "from lssc.parts.registry import component\nfrom lssc.types import Landmarks\n"
GOOD = HEAD + "@component('selector', 'mine')\ndef select(X, m, *, share: float = 0.5):\n    return Landmarks(X)\n"
WRONG_FILES = {
    "syntax error": ("def select(:\n", r"selectors/mine.py, line 1: invalid syntax"),
    "failing import": (f"{HEAD}import nowhere\n", r"mine.py, line 3: ModuleNotFoundError: No module named 'nowhere'"),
    "no decorator": (
        "def select(X, m):\n    pass\n",
        r"registers no selector 'mine'; decorate its function with @comp",
    ),
    "other name": (GOOD.replace("'mine'", "'yours'"), r"mine.py registers no selector 'mine'"),
    "other kind": (
        GOOD.replace("'selector'", "'selecter'"),
        r"unknown kind of part 'selecter'; did you mean 'selector'",
    ),
    "no arguments": (
        GOOD.replace("('selector', 'mine')", "()"),
        r"line 3: TypeError: component\(\) missing 2 required",
    ),
    "no type": (
        GOOD.replace(": float", ""),
        r"mine.py: parameter 'share' has no type; annotate it, for example share: fl",
    ),
    "odd type": (
        GOOD.replace("float", "dict"),
        r"mine.py: parameter 'share' is annotated <class 'dict'>; use bool, int",
    ),
    "unknown type": (GOOD.replace("float", "Flaot"), r"mine.py, line 4: NameError: name 'Flaot' is not defined"),
}


@pytest.fixture
def own_selector(tmp_path, monkeypatch):
    """Writes an own selector `mine` into a folder that counts as selectors."""
    import lssc.parts.selectors as package

    folder = tmp_path / "lssc/parts/selectors"
    folder.mkdir(parents=True)
    monkeypatch.setattr(package, "__path__", [str(folder)])
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))

    def write(text):
        (folder / "mine.py").write_text(text)
        return lambda: find("selector", "mine")

    yield write
    sys.modules.pop("lssc.parts.selectors.mine", None)
    registry.names.cache_clear()
    registry.import_problem.cache_clear()


@pytest.fixture(autouse=True)
def fresh_registry():
    registry.names.cache_clear()
    registry.import_problem.cache_clear()


def test_finds_an_own_part(own_selector):
    assert own_selector(GOOD)().defaults == {"share": 0.5}


@pytest.mark.parametrize("case", WRONG_FILES)
def test_reports_a_wrong_file_in_one_line(own_selector, case):
    text, message = WRONG_FILES[case]
    with pytest.raises(LookupError, match=message) as caught:
        own_selector(text)()
    assert "\n" not in str(caught.value)


def part(kind):
    return Component(kind, "mine", lambda: None, lambda: None)


def labels(values):
    return Clusters(np.array(values), {})


CODES = sparse.csr_matrix(np.ones((N, M)))
WRONG_RESULTS = [
    ("selector", None, "returned nothing"),
    ("selector", np.arange(M), "returned a ndarray"),
    ("selector", Landmarks([0, 1, 2]), "returned indices as a list"),
    ("selector", Landmarks(np.arange(M) / 2), "returned indices of type float64"),
    ("selector", Landmarks(np.arange(2)), "returned indices of shape 2, not 3"),
    ("selector", Landmarks(np.array([0, 0, 1])), "returned indices that repeat a point"),
    ("selector", Landmarks(np.arange(M), points=np.ones((2, 4))), "returned points of shape 2 x 4, not 3 x any"),
    ("selector", Landmarks(np.array([0, 1, N])), "returned indices from 0 to 6, not 0 to 5"),
    ("coder", CODES, "returned a csr_matrix"),
    ("coder", Codes(CODES.toarray()), "returned a matrix of type ndarray"),
    ("coder", Codes(CODES.tocsc()), "returned a matrix of type csc_matrix"),
    ("coder", Codes(CODES.T.tocsr()), "returned a matrix of 3 x 6, not 6 x 3"),
    ("embedder", Embedding(np.ones((K, N)), np.ones(K)), "returned vectors of shape 2 x 6, not 6 x any"),
    ("embedder", Embedding(np.ones((N, K)), 1.0), "returned values as a float"),
    ("clusterer", np.zeros(N, dtype=int), "returned a ndarray"),
    ("clusterer", labels([0, 1, 2, 0, 1, 0]), "returned labels from 0 to 2, not 0 to 1"),
    ("refiner", labels([0, 1]), "returned labels of shape 2, not 6"),
    ("method", labels([0.0] * N), "returned labels of type float64"),
    ("dataset", Points(np.ones((N - 1, 2)), np.zeros(N, dtype=int)), "returned X of shape 5 x 2, not 6 x any"),
    ("dataset", Points(np.ones((N, 2)), np.zeros(2, dtype=int)), "returned labels of shape 2, not 6"),
]


@pytest.mark.parametrize(("kind", "result", "message"), WRONG_RESULTS, ids=[f"{k}-{m}" for k, _, m in WRONG_RESULTS])
def test_names_the_part_that_returned_something_else(kind, result, message):
    with pytest.raises(InputError) as caught:
        require_result(part(kind), result, n=N, m=M, n_clusters=K)
    assert str(caught.value).startswith(f"{kind} 'mine' {message}; a {kind} returns ")


@pytest.mark.parametrize(
    ("kind", "result"),
    [
        ("selector", Landmarks(np.arange(M))),
        ("coder", Codes(CODES)),
        ("embedder", Embedding(np.ones((N, 5), dtype=np.float32), np.ones(5))),
        ("clusterer", labels([0, 1, 1, 0, 1, 0])),
        ("dataset", Points(np.ones((N, 2)), np.zeros(N, dtype=np.int32))),
    ],
)
def test_accepts_what_each_kind_returns(kind, result):
    require_result(part(kind), result, n=N, m=M, n_clusters=K)
