"""The site that `make docs-html` has built works in a browser without a network."""

import json
import re
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest

from lssc.cli import COMMANDS
from tests.browser import Browser, find_browser
from tests.conftest import REPO

SITE = (REPO / "docs/_build/html").resolve()
EXAMPLES = sorted(path.stem for path in (REPO / "docs/examples").glob("plot_*.py"))
PAGES = ["index", "guide/methods", "guide/choosing", "api", "api/lssc.FSC", "results", "cluster", "claims", "config"]
ADDRESS = re.compile(r'(?:href|src)="([^"]+)"')
# Widths of a desktop window and of a phone, in pixels.
WIDTHS = (1200, 390)


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site():
    """The address of the site."""
    assert (SITE / "index.html").exists(), "build the site first: make docs-html"
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(SITE))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    program = find_browser()
    if not program:
        pytest.skip("no Chromium")
    with Browser(program, tmp_path_factory.mktemp("profile")) as browser:
        yield browser


def problems(browser, site):
    """Console errors, failed requests and requests to other hosts since the page was opened."""
    entries = [event["entry"] for event in browser.received("Log.entryAdded")]
    errors = [str(entry) for entry in entries if entry["level"] == "error"]
    errors += [str(event["args"]) for event in browser.received("Runtime.consoleAPICalled") if event["type"] == "error"]
    errors += [str(event) for event in browser.received("Runtime.exceptionThrown")]
    addresses = [event["request"]["url"] for event in browser.received("Network.requestWillBeSent")]
    assert any(address.startswith(site) for address in addresses)
    return errors + [address for address in addresses if not address.startswith((site, "data:"))]


def test_pages_are_those_of_the_menu(site):
    text = (SITE / "index.html").read_text()
    assert len(EXAMPLES) >= 6
    assert {"guide/index.html", "api.html", "gallery/index.html", "results.html", "cluster.html"} <= set(
        re.findall(r'href="([\w/]+\.html)"', text)
    )


def test_links_resolve_and_nothing_is_loaded_from_outside(site):
    """Every relative address in a page is a file of the site, with the section that it names."""
    pages = {page: page.read_text() for page in SITE.rglob("*.html") if "_static" not in page.parts}
    broken = [
        (page.name, address) for page, text in pages.items() for address in ADDRESS.findall(text)
        if "://" not in address and not resolves(address, page, pages)
    ]  # fmt: skip
    assert broken == []
    loaded = {page.name: re.findall(r'<(?:script|img|link)\b[^>]*(?:src|href)="(?:https?:)?//[^"]+"', text)
              for page, text in pages.items()}  # fmt: skip
    assert {page: tags for page, tags in loaded.items() if tags} == {}


def resolves(address, page, pages):
    path, _, section = unquote(address).partition("#")
    target = (page.parent / path.partition("?")[0]).resolve() if path else page
    return target.exists() and (not section or f'id="{section}"' in pages.get(target, ""))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("page", PAGES)
def test_page_has_no_error_and_fits_the_window(page, width, site, browser):
    browser.resize(width)
    browser.open(f"{site}/{page}.html")
    assert problems(browser, site) == []
    assert browser.run("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("example", EXAMPLES)
def test_example_shows_its_picture(example, site, browser):
    browser.open(f"{site}/gallery/{example}.html")
    pictures = browser.run(f"[...document.images].filter(i => i.src.includes('{example}')).map(i => i.naturalWidth)")
    assert pictures
    assert min(pictures) > 400
    assert problems(browser, site) == []


def test_gallery_shows_every_example(site, browser):
    browser.open(f"{site}/gallery/index.html")
    shown = json.loads(browser.run("JSON.stringify([...document.images].map(i => [i.src, i.naturalWidth]))"))
    for example in EXAMPLES:
        [width] = [width for address, width in shown if example in address]
        assert width > 100


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_its_help(command, site):
    assert f"usage: lssc {command}" in (SITE / "command_line.html").read_text()


def test_equations_are_drawn(site, browser):
    browser.open(f"{site}/guide/methods.html")
    heights = browser.run("[...document.querySelectorAll('.equation math')].map(e => e.getBoundingClientRect().height)")
    assert len(heights) > 2
    assert min(heights) > 15


@pytest.mark.parametrize(("word", "page"), [("medoids", "plot_2_landmarks"), ("n_landmarks", "lssc.FSC")])
def test_search_lists_pages(word, page, site, browser):
    browser.open(f"{site}/search.html?q={word}")
    deadline = time.monotonic() + 30
    while not browser.run(f"[...document.querySelectorAll('#search-results a')].some(a => a.href.includes('{page}'))"):
        assert time.monotonic() < deadline, browser.run("document.querySelector('#search-results').innerText")
        time.sleep(0.1)
    assert problems(browser, site) == []


def test_search_field_leads_to_results(site, browser):
    browser.resize(1200)
    browser.open(f"{site}/index.html")
    browser.run("document.querySelector('.search-button__button').click()")
    script = "const q = document.querySelector('dialog input[name=q]'); q.value = 'sparsity'; q.form.submit(); true"
    assert browser.run(script)
    deadline = time.monotonic() + 30
    while not browser.run("location.href.includes('q=sparsity') && !!document.querySelector('#search-results li')"):
        assert time.monotonic() < deadline, browser.run("location.href")
        time.sleep(0.1)
