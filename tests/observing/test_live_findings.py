"""What live runs found, kept as small histories: judged again without any server."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

import paraply.properties.all
from paraply.adapters.live.group.story import history_of_trace
from paraply.adapters.live.group.target import MYSQL_GROUP
from paraply.adapters.live.pair.mariadb.target import MARIADB
from paraply.cli import main
from paraply.judging.recorded_files import histories_in
from paraply.observing.pages import LivePages
from paraply.properties.registry import property_named, verdict_of
from paraply.vocabulary.group_trace import ViewInstalled
from paraply.vocabulary.history_jsonl import write_history
from paraply.vocabulary.transactions import TransactionKind
from paraply.vocabulary.verdict import Verdict
from tests.adapters.live.test_group_members import shot, story
from tests.adapters.live.test_group_story import clients_of
from tests.conformance.test_recorded_groups import beginning

assert paraply.properties.all

FINDINGS = Path(__file__).parents[1] / "fixtures" / "live"


@pytest.fixture(scope="module")
def recovered_ddl():
    """MariaDB 10.11.19, optimistic: the source was killed in an ALTER TABLE, cut to 12 around it.

    Recovery logged the statement, without the ddl flag that lets a replica run it alone.
    """
    (history,) = histories_in(FINDINGS / "recovered_ddl_unmarked.jsonl")
    return history.check()


def test_schema_change_that_recovery_logged_has_no_ddl_flag(recovered_ddl):
    (change,) = [one for one in recovered_ddl.transactions if one.kind is TransactionKind.DDL]
    assert change.statement.startswith("ALTER TABLE")
    assert "ddl" not in change.flags


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("domains_apply_without_conflict", Verdict.VIOLATED),
        ("sound_log_never_fails", Verdict.VIOLATED),
        ("replica_logs_domains_in_order", Verdict.HOLDS),
        ("domains_commit_in_order", Verdict.HOLDS),
    ],
)
def test_later_transactions_overtook_it(recovered_ddl, name, expected):
    assert verdict_of(recovered_ddl, property_named(name)) is expected


def test_those_that_overtook_it_are_named(recovered_ddl):
    breaches = property_named("domains_apply_without_conflict").violations(recovered_ddl)
    assert str(breaches[0]) == "replica1: T5 began before T4 had committed"


@pytest.mark.parametrize("name", ["recovered_ddl_unmarked"])
def test_check_judges_a_finding_by_what_its_target_answers_to(name, tmp_path, capsys):
    report = tmp_path / "checked.json"
    assert main(["check", str(FINDINGS / f"{name}.jsonl"), "--json", str(report)]) == 1
    rows = json.loads(report.read_text())["rows"]
    assert {row["name"] for row in rows} <= set(MARIADB.properties)
    broken = {row["name"] for row in rows if row["verdict"] == "violated"}
    assert broken == set(MARIADB.documented["optimistic/kill-source-ddl"]) & broken
    assert broken >= {"domains_apply_without_conflict", "sound_log_never_fails"}
    capsys.readouterr()


@pytest.mark.long
def test_check_finds_nothing_in_a_healthy_live_history(tmp_path, capsys):
    group = tmp_path / "group.jsonl"
    trace = beginning()
    views = [step for step in trace.steps if isinstance(step, ViewInstalled)]
    left = next(view.left[0] for view in views if view.left)
    clients = clients_of(trace, cut_off=left)
    history = history_of_trace(trace, seed=0, options={}, clients=clients)
    # A record of a group has no reader; a story of four transactions has not every situation.
    read = story(shot((2,), 0, 2, executed="2"), shot((1, 2), 1, 2))
    shown = ""
    for one, code in ((history, 0), (read, 2)):
        group.write_text("".join(f"{line}\n" for line in write_history(one)))
        assert main(["check", str(group)]) == code
        shown += capsys.readouterr().out
    for name in MYSQL_GROUP.properties:
        assert name in shown


def test_shown_finding_is_judged_by_what_its_target_answers_to(tmp_path, capsys):
    page = tmp_path / "finding.html"
    finding = FINDINGS / "recovered_ddl_unmarked.jsonl"
    assert main(["show", str(finding), "--out", str(page)]) == 0
    text = page.read_text()
    assert "domains_apply_without_conflict" in text
    assert "members_execute_the_same" not in text  # Not of a pair that replicates.
    capsys.readouterr()


def test_pages_of_a_live_run_are_linked_and_are_those_of_show(recovered_ddl, tmp_path):
    pages = LivePages(tmp_path / "pages")
    pages.add("mariadb-optimistic-7", recovered_ddl, ["domains_apply_without_conflict"])
    pages.write_index([])
    index = (tmp_path / "pages" / "index.html").read_text()
    (linked,) = set(re.findall(r'href="([^"#]+\.html)"', index))
    page = (tmp_path / "pages" / linked).read_text()
    assert "replica1: T5 began before T4 had committed" in html.unescape(page)
