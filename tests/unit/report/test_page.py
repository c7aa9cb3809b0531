"""The page of a run: whatever config and claims hold, it shows it, escapes it and asks nothing of the outside."""

import base64
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.conftest import changed

from lssc.errors import DamagedArtifact
from lssc.pipeline.store.files import sealing
from lssc.pipeline.study import results
from lssc.pipeline.study.load import load
from lssc.report.inlining import inlined
from lssc.report.outline import complete_folders, outline
from lssc.report.page import link, made_by, page

HOSTILE = """<script>alert("x")</script>'&amp;{{ 7 * 7 }}"""
FINDING = {
    "what": "FSC minus ESC",
    "where": "m = 9",
    "unit": "difference of accuracy",
    "estimate": 0.035,
    "low": 0.01,
    "high": 0.06,
    "trials": 3,
    "target": "above 0",
    "holds": True,
}
CLAIM = {
    "id": "a",
    "source": "Fig. 1",
    "reading": False,
    "claim": "FSC wins",
    "verdict": "holds",
    "summary": "So it is.",
    "findings": [],
}
CONTENTS = "Verdicts Figures Parameters Runtimes by step Machine and versions Raw tables "
MACHINE = {"system": "Linux", "processor": "P", "cores": 2}
PROVENANCE = {
    "library": "0.1.0",
    "commit": "abc",
    "python": "3.11",
    "packages": {"numpy": "1.26.4"},
    "machine": MACHINE,
}


class Page(HTMLParser):
    """What a browser would make of it: tags with their attributes, and the text that people see."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.text += " "

    def handle_data(self, data):
        self.text += data

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


BEST = 'method,setting,accuracy,std,runs,at_edge\nfsc,"{""lam"": 10, ""scale_rows"": false}",0.91,0.02,4,lam\n'
CONTENTS_OF = {
    "best.csv": BEST,
    "scores.csv": "method,label,n,m,n_uncoded\nfsc,FSC,30,9,6\nfsc,FSC,30,9,0\nfsc,FSC,30,6,0\n",
}


def write_results(study, provenance=PROVENANCE):
    """The files of all experiments run, with next to nothing in them; returns the experiments' folders."""
    folders = []
    for id in study.run:
        folder = Path(study.paths.experiment("").format(experiment=id))
        for path in map(Path, results.results_of(study, id)):
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".png":
                Image.new("RGB", (40, 30), "navy").save(path)
            else:
                path.write_text(CONTENTS_OF.get(path.name, json.dumps(provenance)))
        (folder / "experiment.json").write_text(json.dumps({"outline": outline(study, id)}))
        folders.append(folder)
    return folders


def write_page(folders, claims=(), earlier=()):
    files = [Path("results/small/claims.json"), Path("results/small/claims.csv")]
    for file in files:
        file.write_text("")
    return page(Path("results/small/report.html"), list(claims), files, folders, earlier)


@pytest.fixture
def page_of(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda config, claims=(): write_page(write_results(load(config)), claims)


@pytest.fixture
def full_config(small_config):
    return changed(small_config, "run", ["grid", "line", "sweeping"])


def test_sections_come_in_their_order_and_every_image_is_held(page_of, full_config):
    text = page_of(full_config, [CLAIM])
    shown = Page(text)
    headings = ["Verdicts", "Figures", "Parameters", "Runtimes by step", "Machine and versions", "Raw tables"]
    places = [text.index(f"<h2>{heading}</h2>") for heading in headings]
    assert places == sorted(places)
    # One figure of `line`, the picture of the sweep, runtimes of `grid` and `line`.
    assert len(shown.all("img")) == 4
    assert all(image["src"].startswith("data:image/webp;base64,") and image["alt"] for image in shown.all("img"))


def test_nothing_is_loaded_and_every_link_leads_to_a_file_beside_the_page(page_of, full_config):
    text = page_of(full_config, [CLAIM])
    shown = Page(text)
    assert not re.search(r"https?:|@import|url\(", text)
    assert not shown.all("script")
    ids = {attributes["id"] for _, attributes in shown.tags if "id" in attributes}
    for target in (attributes["href"] for attributes in shown.all("a")):
        assert target[1:] in ids if target.startswith("#") else (Path("results/small") / target).is_file(), target


def test_page_forbids_the_browser_to_load_anything(page_of, full_config):
    [policy] = [m["content"] for m in Page(page_of(full_config)).all("meta") if "http-equiv" in m]
    assert policy == "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def test_text_of_config_claims_and_machines_is_escaped(tmp_path, monkeypatch, full_config):
    monkeypatch.chdir(tmp_path)
    config = full_config
    for where in ("methods.fsc.label", "datasets.plain.label", "experiments.line.title", "experiments.sweeping.title"):
        config = changed(config, where, HOSTILE)
    provenance = {**PROVENANCE, "commit": HOSTILE, "images": {"tiny": {"source": HOSTILE}}}
    finding = {**FINDING, "what": HOSTILE, "where": HOSTILE, "unit": HOSTILE, "target": HOSTILE}
    claim = {**dict.fromkeys(CLAIM, HOSTILE), "findings": [finding]}
    text = write_page(write_results(load(config), provenance), [claim])
    shown = Page(text)
    assert not shown.all("script")
    assert shown.text.count(HOSTILE) > 10
    assert all(not key.startswith("on") for _, attributes in shown.tags for key in attributes)
    # In attributes, too: quotes do not end them.
    assert any(HOSTILE in image["alt"] for image in shown.all("img"))


def test_claim_shows_its_verdict_in_words_and_its_findings(page_of, small_config):
    parts = {**CLAIM, "verdict": "holds in part", "findings": [FINDING, {**FINDING, "holds": False, "estimate": -0.2}]}
    shown = Page(page_of(small_config, [CLAIM, parts]))
    words = " ".join(shown.text.split())
    assert "2 claims of the paper: 1 × ✔ holds 1 × ◐ holds in part Verdicts" in words.replace(CONTENTS, "")
    assert "+0.035 +0.010 to +0.060 difference of accuracy 3 above 0 ✔ yes" in words
    assert "−0.200 +0.010 to +0.060 difference of accuracy 3 above 0 ✘ no" in words
    assert len(shown.all("details")) == 1


def test_own_claims_are_counted_apart_and_claims_not_run_are_folded(page_of, small_config):
    own = {**CLAIM, "claim": "Mine wins", "own": True}
    missing = {**CLAIM, "claim": "ESC wins", "verdict": "not run", "summary": "Needs experiment x."}
    text = page_of(small_config, [own, missing, CLAIM, {**CLAIM, "reading": True}])
    words = " ".join(Page(text).text.split())
    assert "1 claim of your own: 1 × ✔ holds 2 claims of the paper: 1 × ✔ holds 1 × – not run" in words
    folded = text.index("<summary>1 claim was not run</summary>")
    assert text.index("Mine wins") < text.index("FSC wins") < folded < text.index("ESC wins")


@pytest.mark.parametrize("run", [["grid"], ["sweeping"], ["line"]])
def test_any_selection_of_experiments_has_a_page(page_of, small_config, run):
    shown = Page(page_of(changed(small_config, "run", run), [{**CLAIM, "verdict": "not run", "summary": "no run"}]))
    assert run[0] in shown.text
    assert len(shown.all("img")) == {"grid": 1, "sweeping": 1, "line": 2}[run[0]]


def test_pictures_of_images_are_shown(page_of, image_config):
    config = changed(image_config, "experiments.seen.pictures", {"m": 6, "methods": ["fsc"]})
    shown = Page(page_of(changed(config, "run", ["seen"])))
    assert len(shown.all("img")) == 1 + 4
    assert "first trial, m = 6" in shown.text


def test_parameters_show_who_set_them(page_of, image_config):
    text = page_of(changed(image_config, "run", ["seen"]))
    assert '<span class="param experiment">lam = 5</span>' in text
    assert '<span class="param method">lam = 10</span>' in text
    assert '<span class="param default">scale_rows = false</span>' in text


def test_sweep_shows_its_grid_and_best_values(page_of, small_config):
    words = " ".join(Page(page_of(changed(small_config, "run", ["sweeping"]))).text.split())
    assert "dataset = plain, raw; lam = 5, 10; scale_rows = true, false" in words
    assert "lam = 10 (edge of the grid); scale_rows = false 0.910 0.020 4" in words
    assert "Swept but not chosen: scale_rows." in words


def test_method_shows_its_largest_share_of_points_without_a_code(page_of, small_config):
    words = " ".join(Page(page_of(changed(small_config, "run", ["line"]))).text.split())
    assert "Without code FSC" in words
    assert "max_iter = 100 10.0%" in words


def test_experiments_of_earlier_runs_are_shown_and_marked(tmp_path, monkeypatch, full_config):
    monkeypatch.chdir(tmp_path)
    *folders, earlier = write_results(load(full_config))
    words = " ".join(Page(write_page(folders, earlier=[earlier])).text.split())
    assert "line (3 trials), sweeping (2 trials; from an earlier run)." in words
    assert words.count("(from an earlier run)") == 1


def test_complete_folders_hold_every_file_of_their_outline(tmp_path, monkeypatch, full_config):
    monkeypatch.chdir(tmp_path)
    grid, line, _ = write_results(load(full_config))
    assert complete_folders(grid.parent, ["grid"]) == ["line", "sweeping"]
    (line / "figures/fig.pdf").unlink()
    assert complete_folders(grid.parent, []) == ["grid", "sweeping"]
    for text in ("", "[]", "{}", '{"outline": {"files": 3}}'):
        (grid / "experiment.json").write_text(text)
        assert complete_folders(grid.parent, []) == ["sweeping"]
    assert complete_folders(tmp_path / "nowhere", []) == []


def test_experiments_of_different_commits_stand_side_by_side():
    other = {**PROVENANCE, "commit": None}
    groups = made_by({"a": PROVENANCE, "b": other, "c": PROVENANCE})
    assert [(group["experiments"], group["facts"]["commit"]) for group in groups] == [
        (["a", "c"], "abc"),
        (["b"], "not known"),
    ]


def test_same_run_gives_the_same_page(page_of, full_config):
    assert page_of(full_config, [CLAIM]) == page_of(full_config, [CLAIM])


def test_links_start_from_the_page_and_are_quoted():
    assert (
        link(Path("results/demo/experiments/a b/x#1.csv"), Path("results/demo/report.html"))
        == "experiments/a%20b/x%231.csv"
    )


def test_image_is_shown_at_its_size_on_paper(tmp_path, rng):
    path = tmp_path / "noise.png"
    Image.fromarray(rng.integers(256, size=(40, 1700, 3), dtype="uint8")).save(path)
    shown = inlined(path)
    assert (shown.width, shown.height) == (816, 19)
    assert shown.uri.startswith("data:image/webp;base64,")


def test_reports_damaged_image(tmp_path, rng):
    path = tmp_path / "noise.png"
    with sealing(path) as temporary:
        Image.fromarray(rng.integers(256, size=(20, 20, 3), dtype="uint8")).save(temporary, "PNG")
    assert inlined(path).width == 9
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DamagedArtifact, match=rf"^{path}: does not match its checksum"):
        inlined(path)


def test_missing_image_is_not_damaged(tmp_path):
    with pytest.raises(FileNotFoundError):
        inlined(tmp_path / "noise.png")


def test_plot_keeps_its_colours(tmp_path):
    path = tmp_path / "plot.png"
    pixels = np.full((60, 80, 3), 255, dtype="uint8")
    pixels[20:30] = (1, 115, 178)
    Image.fromarray(pixels).save(path)
    content = base64.b64decode(inlined(path).uri.partition(",")[2])
    with Image.open(io.BytesIO(content)) as image:
        assert np.abs(np.asarray(image.convert("RGB")).astype(int) - pixels).max() <= 2
