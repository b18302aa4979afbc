"""The pages hold against axe-core's rules: contrast, names, roles, order of headings."""

import json
import os
from pathlib import Path

import pytest

from tests.browser.chromium import binary
from tests.browser.layout import WIDTHS
from tests.browser.pages import PAGES
from tests.conftest import REPOSITORY

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
AXE = CACHE / "paraply" / "axe" / "axe.min.js"
LOG = REPOSITORY / "tests" / "fixtures" / "binlogs" / "mysql-9.7.4" / "load-full-metadata"

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(binary() is None, reason="no Chromium: ci/servers installs one"),
    pytest.mark.skipif(not AXE.is_file(), reason="no axe-core: ci/servers fetches it with npm"),
]


def complaints(browser, file):
    """Return what axe finds in a page."""
    browser.open(file.as_uri())
    return complaints_now(browser)


def complaints_now(browser):
    """Return what axe finds in the page as it is open now."""
    browser.value(AXE.read_text(encoding="utf-8") + "; 1")
    found = json.loads(browser.value("axe.run().then((r) => JSON.stringify(r.violations))"))
    return [(one["id"], one["nodes"][0]["html"][:120]) for one in found]


@pytest.mark.parametrize("name", sorted(PAGES))
def test_page_of_every_kind(browser, tmp_path, name):
    file = PAGES[name](tmp_path)
    for width in WIDTHS:
        browser.resize(width, 900)
        assert complaints(browser, file) == [], width
