"""The page of a history in a real browser: stepping, filtering, what-if, links, no complaint."""

import json
from dataclasses import replace

import pytest

from paraply.counterexamples.showing.document import Shown
from paraply.reporting.show_html import show_html
from paraply.reporting.table_page import index_html
from paraply.vocabulary.notation_parser import parse_history
from paraply.vocabulary.verdict import Verdict
from tests.browser.chromium import binary
from tests.browser.pages import campaign_page, conform_page, history_page

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(binary() is None, reason="no Chromium: ci/servers installs one"),
]
LONG = 20_000


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return history_page(tmp_path_factory.mktemp("page"))


def now(browser):
    return int(browser.text("#now").split()[1])


def test_page_opens_where_it_breaks_without_an_error(browser, page):
    browser.open(page.as_uri())
    document = json.loads(browser.text("#document"))
    assert now(browser) == document["breaches"][0]["moments"][-1] + 1
    assert "this breaks engine_commits_follow_the_log" in browser.text("#now")
    assert browser.value("document.querySelectorAll('#rows .moment').length") == 2
    assert browser.errors == []


def test_first_screen_has_the_breaking_step_and_names_the_keys(browser, page):
    browser.resize(1280, 800)
    browser.open(page.as_uri())
    bottoms = browser.value(
        "[...document.querySelectorAll('#steps .toolbar, #now, #rows .moment')]"
        ".map((one) => one.getBoundingClientRect().bottom)"
    )
    assert len(bottoms) >= 4
    assert max(bottoms) <= 800
    keys = browser.value("[...document.querySelectorAll('#steps kbd')].map((k) => k.textContent)")
    assert keys == ["→", "←", "b", "↓", "↑", "Home", "End"]


def test_buttons_keys_and_slider_step_and_the_state_follows(browser, page):
    browser.open(page.as_uri() + "#step=1")
    assert now(browser) == 1
    browser.click("#forward")
    browser.click("#forward")
    assert now(browser) == 3
    browser.press("ArrowRight")
    assert now(browser) == 4
    browser.click("#last")
    end = browser.text("#state")
    browser.click("#first")
    assert now(browser) == 1
    assert browser.text("#state") != end
    browser.click("#last")
    assert browser.text("#state") == end
    browser.press("b")
    assert "breaks" in browser.text("#now")
    assert browser.value("location.hash") == f"#step={now(browser)}"


def test_filter_keeps_matching_events_and_steps_among_them(browser, page):
    browser.open(page.as_uri() + "#step=1")
    browser.value(
        "(() => { const box = document.querySelector('#filter'); box.value = 'engine commit';"
        " box.dispatchEvent(new Event('input')); })()"
    )
    shown = browser.value("[...document.querySelectorAll('#rows .row')].map((r) => r.textContent)")
    assert shown
    assert all("engine commit" in row for row in shown)
    browser.click("#first")
    browser.click("#forward")
    assert "engine commit" in browser.text("#now")


def test_other_choice_shows_what_it_leads_to(browser, page):
    browser.open(page.as_uri())
    total = browser.value("document.querySelectorAll('#others tr').length")
    browser.click("#passing")
    passing = browser.value(
        "[...document.querySelectorAll('#others tr')].map((r) => r.textContent)"
    )
    assert 0 < len(passing) < total
    assert not any("still breaks" in row for row in passing)
    assert all(" instead of " in row for row in passing)
    browser.value("location.hash = document.querySelector('.nearest a').getAttribute('href')")
    browser.value("new Promise((done) => setTimeout(done, 50))")
    assert "passes" in browser.text("#other")
    assert browser.value("document.querySelectorAll('#other tbody tr').length") > 0


def test_graph_has_an_arc_for_each_row_of_its_table(browser, page):
    browser.open(page.as_uri())
    arcs = browser.value("document.querySelectorAll('#arcs path').length")
    assert arcs == browser.value("document.querySelectorAll('#edges tr').length") > 0
    assert browser.errors == []


def test_long_history_keeps_few_rows_in_the_page(browser, tmp_path):
    short = parse_history("T1{a} 1<0 | T2{a} 2<1 | begun T1@w1 ; engine_committed T1@w1")
    events = tuple(short.events[index % 2]._replace(time=index + 1) for index in range(LONG))
    file = tmp_path / "long.html"
    file.write_text(show_html(Shown(history=replace(short, events=events))), encoding="utf-8")
    browser.open(file.as_uri() + f"#step={LONG // 2}")
    assert now(browser) == LONG // 2
    assert browser.value("document.querySelectorAll('#rows .row').length") < 100
    browser.press("ArrowLeft")
    assert now(browser) == LONG // 2 - 1
    assert browser.errors == []


def test_index_sorts_and_filters(browser, tmp_path):
    rows = [
        {"href": "", "name": name, "verdict": "holds", "cells": {"runs": runs}}
        for name, runs in (("b", 9), ("a", 10), ("c", 1), *((f"d{n}", 100 + n) for n in range(9)))
    ]
    file = tmp_path / "index.html"
    file.write_text(index_html("Pages", "three", Verdict.HOLDS, rows), encoding="utf-8")
    browser.open(file.as_uri())
    names = "[...document.querySelectorAll('tbody tr:not([hidden]) th')].map((c) => c.textContent)"
    browser.click("thead th:nth-child(3) button")
    assert browser.value(names)[:3] == ["c", "b", "a"]
    browser.click("thead th:nth-child(3) button")
    assert browser.value(names)[-3:] == ["a", "b", "c"]
    browser.value(
        "(() => { const box = document.querySelector('#pages .filter'); box.value = 'a';"
        " box.dispatchEvent(new Event('input')); })()"
    )
    assert "a" in browser.value(names)
    assert "of 12 rows" in browser.text("#pages .count")
    assert browser.errors == []


def test_pages_of_a_conformance_run_open(browser, tmp_path):
    index = conform_page(tmp_path)
    browser.open(index.as_uri())
    browser.open((index.parent / "B-prefix-01.html").as_uri())
    assert "breaks" in browser.text("#now")
    assert browser.errors == []


def test_report_of_a_campaign_sorts_filters_and_opens_its_counterexamples(browser, tmp_path):
    browser.open(campaign_page(tmp_path).as_uri())
    shares = (
        "[...document.querySelectorAll('#situations tbody tr:not([hidden]) td:nth-child(4)')]"
        ".map((c) => +c.textContent)"
    )
    for order in (False, True):
        browser.click("#situations thead th:nth-child(4) button")
        found = browser.value(shares)
        assert found == sorted(found, reverse=order)
        assert found[0] != found[-1]
    browser.value(
        "(() => { const box = document.querySelector('#situations .filter');"
        " box.value = 'first_certified_wins'; box.dispatchEvent(new Event('input')); })()"
    )
    assert 0 < len(browser.value(shares)) < len(found)
    browser.open(browser.value("document.querySelector('#mutants tbody a').href"))
    assert "breaks first_certified_wins" in browser.text("#now")
    assert browser.errors == []
