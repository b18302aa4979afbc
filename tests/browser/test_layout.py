"""What the pages look like: structure against a stored one, wide and narrow, light and dark.

``python -m tests.browser.test_layout`` stores the structures again; look at the pages first.
"""

import itertools
import sys
import tempfile
from pathlib import Path

import pytest

from tests.browser.chromium import Chromium, binary
from tests.browser.layout import WIDTHS, boxes, layout
from tests.browser.pages import PAGES
from tests.conftest import REPOSITORY

STORED = Path(__file__).parent / "layouts"
SCREENSHOTS = REPOSITORY / "build" / "screenshots"
SCALE = 0.25

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(binary() is None, reason="no Chromium: ci/servers installs one"),
]


@pytest.fixture(scope="module", params=sorted(PAGES))
def page(request, tmp_path_factory):
    return request.param, PAGES[request.param](tmp_path_factory.mktemp(request.param))


def brightness(pixel):
    return sum(pixel) / 3


def test_structure_is_the_stored_one(browser, page):
    name, file = page
    assert layout(browser, file) == (STORED / f"{name}.txt").read_text(encoding="utf-8")


def test_blocks_follow_each_other_and_stay_inside_the_page(browser, page):
    for width in WIDTHS:
        browser.resize(width, 900)
        browser.open(page[1].as_uri())
        assert browser.value("document.documentElement.scrollWidth") <= width
        sections = [box for box in boxes(browser) if box[1].startswith("section")]
        assert sections
        for before, after in itertools.pairwise(sections):
            assert before[3] + before[5] <= after[3] + 0.5


@pytest.mark.parametrize("width", WIDTHS)
def test_screenshot_shows_every_section(browser, page, width):
    name, file = page
    browser.resize(width, 900)
    browser.open(file.as_uri())
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    (SCREENSHOTS / f"{name}-{width}.png").write_bytes(browser.picture("html"))
    pixels = browser.screenshot("html", SCALE)
    assert len(pixels[0]) == pytest.approx(width * SCALE, abs=1)
    paper = max({*pixels[-1]}, key=pixels[-1].count)
    for _, block, _, top, _, height in boxes(browser):
        if block.startswith(("header", "section")) and height:
            shown = pixels[round(top * SCALE) : round((top + height) * SCALE)]
            assert any(abs(sum(pixel) - sum(paper)) > 60 for row in shown for pixel in row), (
                f"{block} is blank"
            )


def test_colours_follow_the_reader_and_the_verdict_stands_out(browser, page):
    seen = {}
    for is_dark in (False, True):
        browser.resize(1280, 900, is_dark=is_dark)
        browser.open(page[1].as_uri())
        head, rest = browser.screenshot("header"), browser.screenshot("main section")
        paper = max({*rest[0]}, key=rest[0].count)
        band = max({*head[-1]}, key=head[-1].count)
        inks = {pixel for row in head for pixel in row if abs(sum(pixel) - sum(band)) > 150}
        assert band != paper
        assert inks, "nothing is written in the head of the page"
        assert any(abs(sum(pixel) - sum(paper)) > 150 for row in rest for pixel in row)
        seen[is_dark] = brightness(paper)
    assert seen[True] < 60
    assert seen[False] > 200


def main():
    """Store the structure of every page."""
    with tempfile.TemporaryDirectory() as folder, Chromium(Path(folder) / "profile") as browser:
        for name, make in PAGES.items():
            place = Path(folder) / name
            place.mkdir()
            (STORED / f"{name}.txt").write_text(layout(browser, make(place)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
