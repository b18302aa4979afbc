"""The site in a real browser: first page, menu of versions, navigation, search, no complaint."""

import functools
import json
import shutil
import threading
import time
from contextlib import suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ci import docs
from paraply.version import VERSION
from tests.browser.chromium import Chromium, binary

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(binary() is None, reason="no Chromium: ci/servers installs one"),
]
OLDER = "0.0.9"
SECONDS_MAX = 120
MENU = """
[...document.querySelectorAll('.md-version__link')].map((a) => [a.textContent, a.pathname])
"""
SEARCH = "[...document.querySelectorAll('div')].find((one) => one.shadowRoot)?.shadowRoot"


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Build the site, with another version beside this one, and serve it."""
    build = tmp_path_factory.mktemp("build")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(docs, "BUILD", build)
        assert docs.main([]) == 0
    site = build / "site"
    shutil.copytree(site / VERSION, site / OLDER)
    docs.list_versions(site)
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Silent, directory=site))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def browser(tmp_path):
    with Chromium(tmp_path) as found:
        yield found


def until(browser, expression):
    """Wait until an expression is true, or not empty, in the page; return its value."""
    deadline = time.monotonic() + SECONDS_MAX
    found = None
    while not found:
        assert time.monotonic() < deadline, expression
        time.sleep(0.05)
        with suppress(AssertionError):  # The page may be changing.
            found = browser.value(expression)
    return found


def test_first_page_opens_the_newest_version_and_its_menu_the_others(browser, address):
    browser.open(f"{address}/{VERSION}/docs/verify.html")
    browser.value(f"location.assign('{address}/')")
    until(browser, f"location.pathname === '/{VERSION}/index.html'")
    assert until(browser, MENU) == [[VERSION, f"/{VERSION}/"], [OLDER, f"/{OLDER}/"]]
    assert browser.text(".md-version__current") == VERSION
    browser.click(f'.md-version__link[href$="/{OLDER}/"]')
    until(browser, f"location.pathname.startsWith('/{OLDER}/')")
    assert until(browser, MENU)
    assert browser.text(".md-version__current") == OLDER
    assert browser.errors == []


def test_page_of_the_navigation_opens_within_its_version(browser, address):
    browser.open(f"{address}/{OLDER}/index.html")
    links = browser.value(
        "[...document.querySelectorAll('.md-nav--primary a')].map((a) => a.pathname)"
    )
    pages = {link for link in links if link.endswith(".html")}
    assert len(pages) > 30
    assert all(link.startswith(f"/{OLDER}/") for link in pages)
    browser.click('.md-nav--primary a[href$="docs/verify.html"]')
    until(browser, f"location.pathname === '/{OLDER}/docs/verify.html'")
    assert until(browser, "document.querySelector('main h1')?.textContent")
    assert browser.errors == []


def test_search_finds_a_page_and_opens_it(browser, address):
    browser.open(f"{address}/{VERSION}/index.html")
    browser.click(".md-search__button")
    # What the frame shows is drawn after the frame, and results while the text is typed.
    until(browser, f"{SEARCH}.querySelector('input').focus() === undefined")
    browser.type("semi-sync")
    page = json.dumps(f"{address}/{VERSION}/docs/semi-sync.html")
    links = f"[...{SEARCH}.querySelectorAll('[role=listbox] a')]"
    until(browser, f"{links}.find((a) => a.href.startsWith({page})).click() === undefined")
    until(browser, f"location.href.startsWith({page})")
    assert browser.errors == []
