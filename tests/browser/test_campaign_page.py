"""The page of a large campaign: five screens, nothing lost, all of it in print."""

import re
from collections import Counter
from dataclasses import replace

import pytest

from paraply.campaigning.files import FOLDER, Filed
from paraply.campaigning.result import judge
from paraply.mining.campaign import read_campaign
from paraply.mining.systems import System
from paraply.reference_impl.subject import Workload
from paraply.registries import registered_mutants, registered_subjects
from paraply.reporting.campaign_html import campaign_html
from paraply.vocabulary.verdict import Verdict
from tests.browser.chromium import binary
from tests.browser.pages import campaign_page
from tests.browser.test_accessibility import AXE, complaints

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(binary() is None, reason="no Chromium: ci/servers installs one"),
]
SCREEN, SCREENS_MAX = 800, 5
COUNTEREXAMPLES = 400
NARROW = 400


class Quick(System):
    """A system whose situations are known without running it."""

    situations = frozenset(f"situation_{number}" for number in range(20))


def quick(subject, dialect, mutant=""):
    return Quick(subject=subject, mutant=mutant, workload=Workload(dialect=dialect), judges=())


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Every subject in every dialect and every mutant, with many counterexamples."""
    folder = tmp_path_factory.mktemp("large")
    campaign_page(folder)
    progress = read_campaign(str(folder / "mine"))
    subject, mutant = judge(progress)
    results = [
        replace(subject, system=quick(one.name, dialect), verdict=list(Verdict)[number % 3])
        for number, one in enumerate(registered_subjects())
        for dialect in one.dialects
    ]
    results += [
        replace(mutant, system=quick(one.subject.name, one.subject.dialects[0], one.name))
        for one in registered_mutants()
    ]
    filed = [
        Filed(
            name=f"counterexample-{number}", subject="applier", mutant="", dialect="database",
            prop=f"property_{number % 40}", signature="a | b", digest="", count=number + 1,
            transactions=2 + number % 7, events=9 + number, choices=5, is_confirmed=True,
            is_expected=False, violations=(), command="",
        )
        for number in range(COUNTEREXAMPLES)
    ]  # fmt: skip
    pages = {entry.name: f"{FOLDER}/{entry.name}.html" for entry in filed}
    file = folder / "large.html"
    text = campaign_html(progress, results, filed, pages, command="paraply mine --report x")
    file.write_text(text, encoding="utf-8")
    return file, results, filed


def height(browser):
    return browser.value("document.documentElement.scrollHeight")


def test_the_page_has_at_most_five_screens(browser, page):
    browser.resize(1280, SCREEN)
    browser.open(page[0].as_uri())
    folded = height(browser)
    assert folded <= SCREENS_MAX * SCREEN
    browser.value("dispatchEvent(new Event('beforeprint'))")
    assert height(browser) > 3 * folded, "the tables are shown, and in print too"
    browser.value("dispatchEvent(new Event('afterprint'))")
    assert height(browser) == folded
    assert browser.errors == []


def test_the_first_screen_says_the_verdict_and_what_to_do(browser, page):
    browser.resize(1280, SCREEN)
    browser.open(page[0].as_uri())
    top = "document.querySelector('%s').getBoundingClientRect().bottom"
    assert browser.value(top % "header") < browser.value(top % "#next") <= SCREEN
    sections = browser.value(
        "[...document.querySelectorAll('main h2')].map((one) => one.textContent).join('|')"
    )
    assert sections.split("|")[:3] == ["What to do next", "Matrix", "Smallest counterexamples"]


def test_nothing_is_lost(page):
    file, results, filed = page
    text = file.read_text(encoding="utf-8")
    rows = Counter(re.findall(r'<th scope="row">([^<]+)</th>', text))
    named = Counter(result.system.name for result in results)
    assert all(rows[name] >= count for name, count in named.items())
    for entry in filed:
        assert f'href="{FOLDER}/{entry.name}.html"' in text


def test_links_unfold_their_table(browser, page):
    browser.resize(1280, SCREEN)
    browser.open(page[0].as_uri())
    browser.click("nav a[href='#situations']")
    browser.value("new Promise((done) => setTimeout(done, 100))")
    assert browser.value("document.querySelector('#situations').closest('details').open")


def test_a_narrow_page_does_not_scroll_sideways(browser, page):
    browser.resize(NARROW, SCREEN)
    browser.open(page[0].as_uri())
    browser.value("dispatchEvent(new Event('beforeprint'))")
    assert browser.value("document.documentElement.scrollWidth") <= NARROW


@pytest.mark.skipif(not AXE.is_file(), reason="no axe-core: ci/servers fetches it with npm")
def test_the_page_is_accessible_folded_and_unfolded(browser, page, tmp_path):
    assert complaints(browser, page[0]) == []
    small = campaign_page(tmp_path)
    text = small.read_text(encoding="utf-8")
    assert 'class="folded"' in text
    small.write_text(text.replace('class="folded"', 'class="folded" open'), encoding="utf-8")
    assert complaints(browser, small) == []
