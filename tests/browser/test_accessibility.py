"""The pages hold against axe-core's rules: contrast, names, roles, order of headings."""

import json
import os
from pathlib import Path

import pytest

from paraply.cli import main
from paraply.registries import property_named, subject_named
from paraply.report.show_html import show_html
from paraply.report.table_page import index_html
from paraply.showing.alternatives import alternatives_of
from paraply.showing.document import Shown
from properties.search import random_schedules, search
from reference_impl.subject import Workload
from tests.browser.chromium import Chromium, binary
from tests.conftest import REPOSITORY
from vocabulary.verdict import Verdict

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
AXE = CACHE / "paraply" / "axe" / "axe.min.js"
LOG = REPOSITORY / "tests" / "fixtures" / "binlogs" / "mysql-9.7.4" / "load-full-metadata"

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(binary() is None, reason="no Chromium: ci/servers installs one"),
    pytest.mark.skipif(not AXE.is_file(), reason="no axe-core: ci/servers fetches it with npm"),
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Chromium(tmp_path_factory.mktemp("profile")) as found:
        yield found


def complaints(browser, file):
    """Return what axe finds that keeps somebody from reading the page."""
    browser.open(file.as_uri())
    browser.value(AXE.read_text(encoding="utf-8") + "; 1")
    found = json.loads(browser.value("axe.run().then((r) => JSON.stringify(r.violations))"))
    return [
        (one["id"], one["nodes"][0]["html"][:120])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def test_page_of_a_history(browser, tmp_path):
    subject = subject_named("applier")
    workload = Workload(dialect="logical_clock_unordered")
    prop = property_named("engine_commits_follow_the_log")

    def system(schedule):
        return subject.run(schedule, workload)

    found = search(system, prop, random_schedules(0, 300))
    shown = Shown(
        history=found.history,
        broken=[prop],
        alternatives=alternatives_of(system, prop, found.choices),
        replay="paraply replay run.jsonl",
    )
    file = tmp_path / "run.html"
    file.write_text(show_html(shown), encoding="utf-8")
    assert complaints(browser, file) == []


def test_index_of_pages(browser, tmp_path):
    rows = [{"href": "a.html", "name": "a", "verdict": "violated", "cells": {"runs": 1}}]
    file = tmp_path / "index.html"
    file.write_text(index_html("Pages", "one", Verdict.VIOLATED, rows), encoding="utf-8")
    assert complaints(browser, file) == []


def test_page_of_an_audit(browser, tmp_path, capsys):
    file = tmp_path / "audit.html"
    main(["audit", str(LOG / "bin.000001"), "--html", str(file)])
    capsys.readouterr()
    assert complaints(browser, file) == []


def test_page_that_nobody_can_read_is_noticed(browser, tmp_path):
    file = tmp_path / "bad.html"
    file.write_text('<html><body><img src="a.png"><button></button></body></html>')
    assert {"image-alt", "button-name"} <= {name for name, _ in complaints(browser, file)}


def test_report_of_a_campaign(browser, tmp_path, capsys):
    campaign, pages = str(tmp_path / "mine"), tmp_path / "pages"
    words = ["--subjects", "certifier:wl8440_literal", "--histories", "40", "--seed", "3"]
    main(["mine", *words, "--out", campaign])
    main(["show", campaign, "--out", str(pages)])
    capsys.readouterr()
    assert complaints(browser, pages / "index.html") == []
