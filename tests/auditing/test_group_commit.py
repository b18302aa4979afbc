"""A source with a delay of group commits: small cases, what is always true, and the report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci.group_commit import STORE, predicted
from ci.pages.stored_results import read_results
from paraply.auditing import counterfactuals as module
from paraply.auditing.counterfactuals import Ways, counterfactuals
from paraply.auditing.logged_source import Extent, Source, logged_source
from paraply.auditing.pipeline import AuditRequest, audit
from paraply.auditing.predicting import predict, prediction
from paraply.reference_impl.certification.trackers import CommitOrderTracker, WritesetTracker
from paraply.reference_impl.comparison.appliers import AS_LOGGED, WRITESET
from paraply.reference_impl.comparison.group_commit import LoggedCommits
from paraply.reference_impl.comparison.logged import LoggedTasks
from paraply.reference_impl.workloads.stamps import restamped
from paraply.reporting.audit.faster_outline import faster_lines
from paraply.reporting.audit.json_form import to_document
from paraply.reporting.html import render_html
from paraply.reporting.terminal import render_terminal
from paraply.vocabulary.log import LoggedKind
from tests.builders.logged import NotationKeys, transaction

ROOT = Path(__file__).parent.parent.parent
DELAYS = ROOT / "tests" / "fixtures" / "delays"
BINLOGS = ROOT / "tests" / "fixtures" / "binlogs"
SYNC, DELAY = 10, 100
BEGAN = 1_000_000

# A transaction is (session, microsecond of its write, written keys), or has the parent, too.


def tasks_of(story, **fields):
    tasks = LoggedTasks(NotationKeys())
    for ordinal, (session, moment, keys, *_) in enumerate(story, start=1):
        values = {"ordinal": ordinal, "keys": keys, "session": session, **fields}
        values.setdefault("committed_at_us", BEGAN + moment)
        if keys == "DDL":
            values |= {"keys": "", "kind": LoggedKind.DDL}
        tasks.add(transaction(**values))
    return tasks.log()


def commits_of(story):
    """Return the commits of a story; each transaction depends on all that had committed."""
    log = tasks_of(story)
    parents = [None, *(one[3] if len(one) > 3 else at for at, one in enumerate(story))]
    return LoggedCommits(log, parents, sync=SYNC), log


def delayed(*story, delay=DELAY):
    """Return when each transaction of a story is written and commits with a delay."""
    moments = commits_of(story)[0].delayed(delay)
    return [
        (written - BEGAN, committed - BEGAN)
        for written, committed in zip(moments.written[1:], moments.committed[1:], strict=True)
    ]


def test_all_that_are_written_during_the_delay_commit_together():
    found = delayed((1, 0, "a"), (2, 50, "b"), (3, 100, "c"), (4, 300, "d"))
    assert found == [(0, 110), (50, 110), (100, 110), (300, 410)]


def test_a_group_waits_for_the_sync_before_it_and_then_for_the_delay():
    assert delayed((1, 0, "a"), (2, 105, "b")) == [(0, 110), (105, 220)]


def test_a_session_keeps_its_time_from_a_commit_to_its_next_write():
    assert delayed((1, 0, "a"), (1, 200, "b")) == [(0, 110), (300, 410)]


def test_a_transaction_that_waited_for_a_row_waits_for_the_later_commit():
    assert delayed((1, 0, "a"), (2, 15, "a")) == [(0, 110), (115, 225)]


def test_a_later_session_overtakes_one_that_waits_for_its_commit():
    commits, log = commits_of([(1, 0, "a"), (1, 20, "b"), (2, 30, "c", 1)])
    changed, parents = commits.rewritten(log, commits.delayed(DELAY))
    assert [task.session for task in changed.tasks[1:]] == [1, 2, 1]
    assert parents == [None, 0, 0, 2]


def test_a_statement_that_ended_before_a_commit_does_not_depend_on_it():
    # The third had ended its last statement before the first committed.
    commits, log = commits_of([(1, 0, "a", 0), (2, 5, "b", 0), (3, 500, "c", 0)])
    _, parents = commits.rewritten(log, commits.delayed(0))
    assert parents == [None, 0, 0, 0]


def test_ddl_waits_for_all_commits_and_all_wait_for_it():
    found = delayed((1, 0, "a"), (2, 20, "DDL"), (3, 40, "b"))
    assert found == [(0, 110), (110, 220), (220, 330)]


def test_a_new_file_begins_after_all_commits():
    log = tasks_of([(1, 0, "a"), (2, 20, "b"), (3, 40, "c")])
    log.tasks[3].clock = 1
    moments = LoggedCommits(log, [None, 0, 0, 0], sync=SYNC).delayed(DELAY)
    assert [one - BEGAN for one in moments.written[1:]] == [0, 20, 110]


def test_price_is_less_throughput_and_a_longer_wait():
    commits, _ = commits_of([(1, 0, "a"), (1, 100, "b")])
    price = commits.price(commits.delayed(DELAY))
    assert (price.throughput, price.wait_us_now, price.wait_us_then) == (0.3548, 10, 110)


def test_sync_takes_no_longer_than_a_session_until_its_next_write():
    story = [(one % 2, 500 * one, f"k{one}") for one in range(40)]
    log = tasks_of(story)
    assert LoggedCommits(log, [None, *([0] * 40)]).sync == 1_000


def test_groups_that_commit_one_after_the_other_bound_the_sync():
    story = [(one, 30 * one, f"k{one}") for one in range(40)]
    log = tasks_of(story)
    assert LoggedCommits(log, [None, *range(40)]).sync == 30


@st.composite
def stories(draw):
    """Transactions of some sessions; the parents are only as large as their place allows."""
    found, moment = [], 0
    for place in range(draw(st.integers(2, 14))):
        moment += draw(st.integers(0, 60))
        keys = " ".join(draw(st.lists(st.sampled_from("abcd"), max_size=2, unique=True)))
        keys = "DDL" if draw(st.integers(0, 9)) == 0 else keys
        found.append((draw(st.integers(1, 4)), moment, keys, draw(st.integers(0, place))))
    return found


DELAYED = st.sampled_from((0, 1, 30, 100, 1_000))


@pytest.mark.long
@given(stories(), DELAYED)
def test_neither_a_session_nor_a_row_has_two_transactions_in_a_group(story, delay):
    commits, log = commits_of(story)
    then = commits.delayed(delay)
    for task in log.tasks[1:]:
        earlier = {other for row in task.rows for other in row.follows}
        earlier.add(commits.before[task.number])
        for other in earlier - {0}:
            assert then.committed[other] <= then.written[task.number]
        assert then.committed[task.number] >= then.written[task.number] + SYNC


@given(stories(), DELAYED)
def test_each_parent_has_committed_and_is_not_before_what_must_be_waited_for(story, delay):
    commits, log = commits_of(story)
    changed, parents = commits.rewritten(log, commits.delayed(delay))
    assert changed.count == log.count
    last = {}
    for task in changed.tasks[1:]:
        earlier = {other for row in task.rows for other in row.follows}
        before = last.get(task.session, 0)
        assert max(earlier | {before}) <= parents[task.number] < task.number
        last[task.session] = task.number


@pytest.mark.long
@given(stories(), DELAYED)
def test_the_first_of_a_group_waits_for_the_delay(story, delay):
    commits, _ = commits_of(story)
    then = commits.delayed(delay)
    for end in set(then.committed[1:]):
        first = min(
            written
            for written, committed in zip(then.written, then.committed, strict=True)
            if committed == end
        )
        assert end >= first + delay + SYNC


@pytest.mark.long
@given(stories())
def test_source_without_a_delay_writes_the_log_that_it_wrote(story):
    story = [one for one in story if one[2] != "DDL"] or [(1, 0, "a", 0)]
    story = [(*one[:3], min(one[3], place)) for place, one in enumerate(story)]
    # Its own log, which no source could write otherwise.
    commits, log = commits_of(story)
    log, parents = commits.rewritten(log, commits.delayed(0))
    commits = LoggedCommits(log, parents, sync=SYNC)
    then = commits.delayed(0)
    assert then.written[1:] == [task.written_at_us for task in log.tasks[1:]]
    again, same = commits.rewritten(log, then)
    assert same == parents
    assert [task.session for task in again.tasks] == [task.session for task in log.tasks]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"committed_at_us": None}, "no commit times in microseconds"),
        ({"is_relayed": True}, "a replica wrote the log"),
        ({"session": None}, "does not name the session"),
        ({}, ""),
    ],
)
def test_what_a_log_lacks_is_said(fields, reason):
    assert reason in tasks_of([(1, 0, "a"), (2, 5, "b")], **fields).why_not_delayed


def audited(log, schema=None):
    request = AuditRequest(
        files=(str(log),), schema=None if schema is None else str(schema), workers=(1, 2, 4, 8)
    )
    result = audit(request)
    predict(request, result)
    return result


def test_report_names_the_delay_with_its_gain_and_its_price():
    schema = str(DELAYS / "schema.sql")
    result = audited(DELAYS / "popular.000001.gz", schema)
    (found,) = (one for one in result.counterfactuals if one.kind == "delay")
    delays = [f"binlog_group_commit_sync_delay={one} on the source" for one in module.DELAYS_US]
    assert found.change in delays
    assert found.gain >= module.GAIN_MIN
    assert 0.5 <= found.price.throughput <= 1
    commits = logged_source((str(DELAYS / "popular.000001.gz"),), schema, Extent()).commits
    delay = int(found.change.split()[0].partition("=")[2])
    assert found.price == commits.price(commits.delayed(delay))
    price = f"the source commits {found.price.throughput:.2f} times as fast"
    text = render_terminal(result, width=10_000, colour=False)
    assert price in text
    assert price in render_html(result)
    (part,) = (one for one in to_document(result)["counterfactuals"] if one["kind"] == "delay")
    assert part["price"]["throughput"] == found.price.throughput
    assert result.unpredicted_delay == ""


def test_first_screen_has_the_price_of_a_delay_that_matters():
    result = audited(DELAYS / "popular.000001.gz", DELAYS / "schema.sql")
    (found,) = (one for one in result.counterfactuals if one.kind == "delay")
    result.counterfactuals = [replace(found, then=2 * found.now)]
    (line,) = faster_lines(result, [])
    assert "its median commit takes" in line.text


def test_mariadb_has_a_reason_in_place_of_a_number():
    result = audited(BINLOGS / "mariadb-10.11.19" / "load-full-metadata" / "bin.000001")
    reason = "binlog_commit_wait_usec is not predicted: the log has no commit times in microseconds"
    assert result.unpredicted_delay == reason
    assert not [one for one in result.counterfactuals if one.kind == "delay"]
    assert reason in render_terminal(result, width=10_000, colour=False)
    assert reason in render_html(result)
    assert to_document(result)["unpredicted_delay"] == reason


def test_only_the_own_log_of_a_replica_has_that_reason():
    folder = BINLOGS / "mysql-9.7.4" / "replica"
    why_not = {
        name: logged_source((str(folder / name),), None, Extent()).log.why_not_delayed
        for name in ("bin.000001", "relay.000002", "replica-bin.000001")
    }
    assert "a replica wrote the log" in why_not.pop("replica-bin.000001")
    # The source wrote what the relay log has.
    assert set(why_not.values()) == {""}


def test_write_sets_need_no_delay():
    result = audited(BINLOGS / "mysql-9.7.4" / "load-full-metadata" / "bin.000001")
    assert result.unpredicted_delay == ""
    assert not [one for one in result.counterfactuals if one.kind == "delay"]


WAY = "mysql-as-logged"
APART = [(one % 8, 2_000 * one, f"k{one}", one) for one in range(80)]
"""Eight sessions, each with a commit each 16 ms; every group has one transaction."""


def counted(story, tracker=CommitOrderTracker, **fields):
    """Return the listed delays of a story, and why there is none."""
    log = tasks_of(story, **fields)
    parents = [None, *(parent for *_, parent in story)]
    stamps = {AS_LOGGED: restamped(log, parents, tracker()),
              WRITESET: restamped(log, parents, WritesetTracker())}  # fmt: skip
    source = Source(log=log, stamps=stamps, has_commit_ids=False)
    ways = Ways(now=WAY, settings=(), workload=WAY, delay="the_delay", workers=8)
    known = [prediction(source, WAY, (1, 8))]
    found = counterfactuals(source, ways, known, prediction)
    return [one for one in found if one.kind == "delay"], source.unpredicted_delay


def test_the_least_delay_is_listed_of_those_that_gain_as_much():
    (found,), reason = counted(APART)
    assert (found.change, reason) == ("the_delay=1000 on the source", "")
    assert found.now == pytest.approx(1)
    assert found.then > 2


def test_a_delay_that_costs_too_much_is_not_listed(monkeypatch):
    monkeypatch.setattr(module, "THROUGHPUT_MIN", 0.9)
    found, _ = counted(APART)
    assert [one.change for one in found] == ["the_delay=100 on the source"]


def test_a_source_that_the_loop_does_not_repeat_has_no_number(monkeypatch):
    monkeypatch.setattr(module, "SAME_SOURCE_WITHIN", -1)
    found, reason = counted(APART)
    assert not found
    assert "do not depend on each other as in commit order" in reason


def test_a_reason_is_given_only_where_the_source_goes_by_commit_order():
    assert "the_delay is not predicted" in counted(APART, session=None)[1]
    assert counted(APART, tracker=WritesetTracker, session=None)[1] == ""


@pytest.mark.long(quick=8)
@pytest.mark.parametrize(
    "one", read_results(STORE), ids=lambda one: f"{one['load']}-{one['delay']}"
)
def test_stored_measurements_are_predicted(one):
    then = predicted(one["load"], one["delay"])
    assert then.speedup == pytest.approx(median(one["speedup"]), rel=0.2)
    assert then.group == pytest.approx(median(one["group"]), rel=0.35)


def test_sessions_of_a_log_are_built_once_for_all_delays(monkeypatch):
    made = []
    build = LoggedCommits.__init__
    monkeypatch.setattr(LoggedCommits, "__init__", lambda *given: made.append(build(*given)))
    assert counted(APART)[0]
    assert len(made) == 1
