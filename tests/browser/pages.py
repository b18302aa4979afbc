"""One page of every kind, each made by the command that its users run."""

from __future__ import annotations

import contextlib
import io

from paraply.cli import main
from paraply.counterexamples.showing.alternatives import alternatives_of
from paraply.counterexamples.showing.document import Shown
from paraply.observing.pages import LivePages
from paraply.properties.search import random_schedules, search
from paraply.reference_impl.subject import Workload
from paraply.registries import property_named, subject_named
from paraply.reporting.show_html import show_html
from tests.conftest import REPOSITORY
from tests.observing.test_live_judging import LOST, ORDER, broken, healthy, result

LOGS = REPOSITORY / "tests" / "fixtures" / "binlogs" / "mysql-9.7.4"
LOG, REPLICA = LOGS / "load-full-metadata", LOGS / "replica"


def history_page(folder):
    """A breach of commit order, with all that can be done about it."""
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
    file = folder / "run.html"
    file.write_text(show_html(shown), encoding="utf-8")
    return file


def audit_page(folder):
    """An audit of a recorded log."""
    _run("audit", str(LOG / "bin.000001"), "--html", str(folder / "audit.html"))
    return folder / "audit.html"


def campaign_page(folder):
    """The report of a campaign."""
    words = ["--subjects", "certifier:wl8440_literal", "--mutants", "first_item_decides"]
    out = str(folder / "mine")
    _run("mine", *words, "--histories", "40", "--seed", "3", "--out", out)
    _run("show", out, "--out", str(folder / "pages"))
    return folder / "pages" / "index.html"


def conform_page(folder):
    """The table of a conformance run with a failure."""
    rule = "paraply.adapters.conformance.rules.faulty:WaitsForOneNumber"
    words = ["--case", "B-prefix-01", "--schedules", "20", "--applier", rule]
    _run("conform", *words, "--html", str(folder / "conform"))
    return folder / "conform" / "index.html"


def verify_page(folder):
    """A replica held against its source."""
    source, target = (REPLICA / f"{name}.000001" for name in ("bin", "replica-bin"))
    _run("verify", str(source), "--target", str(target), "--html", str(folder / "verify.html"))
    return folder / "verify.html"


def live_page(folder):
    """The answers of a run on servers, one round of which lost an event; the servers are toys."""
    pages = LivePages(folder / "live")
    pages.add("plain-none-1", healthy().history, [LOST, ORDER])
    pages.add("plain-break-1", broken().history, [LOST, ORDER])
    pages.write_index([result(healthy()), result(broken(), fault="break")])
    return folder / "live" / "index.html"


PAGES = {
    "audit": audit_page,
    "campaign": campaign_page,
    "conform": conform_page,
    "history": history_page,
    "live": live_page,
    "verify": verify_page,
}


def _run(*words):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        main(list(words))
