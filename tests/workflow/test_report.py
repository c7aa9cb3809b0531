"""The reports of a real run: our own page in a real browser, and Snakemake's."""

import json
import zipfile
from urllib.parse import unquote

import pytest

from tests.browser import Browser, find_browser

pytestmark = pytest.mark.workflow
PHONE, DESK = 390, 1200


@pytest.fixture(scope="module")
def report(finished):
    return finished.folder / "results/report.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    program = find_browser()
    if program is None:
        pytest.skip("no chromium or google-chrome on this machine to open the report with")
    with Browser(program, tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_browser_shows_the_report_without_errors(browser, report, width):
    browser.resize(width)
    browser.open(report)
    assert browser.run("document.querySelectorAll('.verdicts > tbody').length") > 5
    images = browser.run("[...document.images].map(image => image.complete && image.naturalWidth)")
    # Four figures and the runtimes by stage.
    assert len(images) == 5
    assert min(images) > 300
    assert browser.received("Log.entryAdded") == browser.received("Runtime.consoleAPICalled") == []
    assert browser.received("Runtime.exceptionThrown") == []


def test_report_requests_nothing_else(browser, report):
    browser.open(report)
    asked = [sent["request"]["url"] for sent in browser.received("Network.requestWillBeSent")]
    assert [url for url in asked if not url.startswith("data:")] == [report.as_uri()]


@pytest.mark.parametrize("unfolded", [False, True])
def test_report_needs_no_sideways_scrolling_on_a_phone(browser, report, unfolded):
    browser.resize(PHONE)
    browser.open(report)
    browser.run(f"document.querySelectorAll('details').forEach(part => part.open = {str(unfolded).lower()})")
    assert browser.run("[document.documentElement.scrollWidth, document.body.scrollWidth]") == [PHONE, PHONE]
    # Text on a phone is no smaller than this many pixels.
    sizes = browser.run(
        "[...document.querySelectorAll('p, td, th, a, li')].map(e => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert min(sizes) >= 13


def test_every_link_of_the_report_resolves(browser, report):
    browser.open(report)
    links = browser.run("[...document.links].map(link => link.getAttribute('href'))")
    inside = [link[1:] for link in links if link.startswith("#")]
    assert browser.run(f"{inside}.filter(id => !document.getElementById(id))") == []
    files = [unquote(link) for link in links if not link.startswith("#")]
    assert len(files) > 10
    assert [file for file in files if not (report.parent / file).is_file()] == []


def test_report_can_be_printed(browser, report, tmp_path):
    browser.open(report)
    browser.print(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").stat().st_size > 50_000


@pytest.mark.parametrize("name", ["out.html", "out.zip"])
def test_snakemake_report_has_figures_tables_and_the_page(pipeline, name):
    done = pipeline.run("--report", name)
    assert done.returncode == 0, done.stderr[-4000:]
    if name.endswith(".zip"):
        names = zipfile.ZipFile(pipeline.folder / name).namelist()
        for end in ("fig1a.png", "stages.png", "scores.csv", "claims.csv", "report.html"):
            assert any(entry.endswith(end) for entry in names), end
    else:
        text = (pipeline.folder / name).read_text()
        assert "fig1a.png" in text
        assert "The numbers behind the verdicts" in text


def test_second_run_shows_and_judges_experiments_of_the_first(pipeline):
    sizes = {"dataset": "synthetic", "n": [100], "m": [20], "trials": 2}
    pipeline.config["run"] = ["other"]
    pipeline.config["experiments"]["other"] = {**sizes, "methods": ["fsc_uniform"]}
    jobs = ("describe_experiment", "gather_scores", "plot_other", "check_claims", "write_report")
    assert pipeline.finish() == dict.fromkeys(jobs, 1)
    text = (pipeline.folder / "results/report.html").read_text()
    assert "landmarks</a> (2 trials; from an earlier run)" in text
    claims = json.loads((pipeline.folder / "results/claims.json").read_text())
    assert {claim["id"]: claim["verdict"] for claim in claims}["medoids_help"] != "not run"
    assert pipeline.planned() == {}
