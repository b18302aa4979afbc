"""Predictions of changed logs against the predictions of logs that a source really wrote so."""

from __future__ import annotations

import gzip
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, assume, find, given, settings
from hypothesis import strategies as st

from paraply.auditing import counterfactuals as module
from paraply.auditing.counterfactuals import Setting, Ways, counterfactuals
from paraply.auditing.logged_source import Extent, Source, logged_source
from paraply.auditing.pipeline import AuditRequest, audit
from paraply.auditing.predicting import predict, prediction
from paraply.reference_impl.certification.trackers import (
    CommitOrderTracker,
    TrackedTransaction,
    WritesetTracker,
)
from paraply.reference_impl.comparison.appliers import APPLIERS, AS_LOGGED, WRITESET
from paraply.reference_impl.comparison.changed import cut, hot_spots, without_row, without_table
from paraply.reference_impl.comparison.logged import LoggedTasks
from paraply.reference_impl.comparison.tasks import LogBuilder, RowEvent
from paraply.reference_impl.mariadb.source import ALLOW_PARALLEL, TRANSACTIONAL, WAITED
from paraply.reference_impl.workloads.stamps import commit_parents, restamped, timestamps
from paraply.reporting.audit.advice import LEVERS
from paraply.reporting.audit.faster_outline import faster_lines
from paraply.reporting.audit.json_form import to_document
from paraply.reporting.html import render_html
from paraply.reporting.terminal import render_terminal
from paraply.vocabulary.audit_result import AuditResult, Counterfactual, FileSummary, LagPoint
from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import LogPosition, Operation, RowChange
from tests.builders.audit_results import parallelism
from tests.builders.logged import NotationKeys, Tables, key, transaction

ROOT = Path(__file__).parent.parent.parent
LOGS = ROOT / "tests" / "fixtures" / "binlogs"
WORKERS = (1, 2, 3, 8)
MODES = ("mariadb-conservative", "mariadb-optimistic", "mariadb-aggressive")
KEYS = ("a", "b", "c", "u.a", "u.b")
SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much]
UNSHRUNK = settings(
    phases=[Phase.generate], max_examples=2_000, suppress_health_check=SLOW, database=None
)

# A transaction is (written keys, read keys, whether it waited at the source, commit group).


@st.composite
def stories(draw, *, reads=True, rows_max=3):
    """Transactions in commit groups, of which the members share no row."""
    story, group, seen = [], 0, set()
    for _ in range(draw(st.integers(2, 12))):
        written = draw(st.lists(st.sampled_from(KEYS), max_size=rows_max, unique=True))
        reads_max = int(reads and bool(written))
        read = draw(st.lists(st.sampled_from(KEYS), max_size=reads_max, unique=True))
        read = [one for one in read if one not in written]
        if seen & {*written, *read} or draw(st.booleans()):
            group, seen = group + 1, set()
        seen |= {*written, *read}
        story.append((tuple(written), tuple(read), draw(st.booleans()), group))
    return story


def written(story, tracker=None, **fields):
    """Return the log of a source: with a tracker MySQL's, else MariaDB's."""
    stamps = [None] * len(story)
    if tracker is not None:
        tracked = [
            TrackedTransaction(items=frozenset(map(key, (*writes, *reads))),
                               is_empty=not writes)
            for writes, reads, _, _ in story
        ]  # fmt: skip
        stamps = timestamps(tracked, [group for *_, group in story], tracker)
    tasks = LoggedTasks(NotationKeys())
    for ordinal, (writes, reads, waited, group) in enumerate(story, start=1):
        text = f"{' '.join(writes)} / {' '.join(reads)}" if writes else ""
        values = {"ordinal": ordinal, "keys": text, **fields}
        if tracker is None:
            flags = {TRANSACTIONAL, ALLOW_PARALLEL} | ({WAITED} if waited else set())
            values |= {"commit_id": group + 1, "domain": 0, "flags": frozenset(flags)}
        else:
            stamp = stamps[ordinal - 1]
            values |= {
                "last_committed": stamp.last_committed, "sequence_number": stamp.sequence_number,
            }  # fmt: skip
        tasks.add(transaction(**values))
    log = tasks.log()
    found = {} if tracker is None else {AS_LOGGED: [task.stamp for task in log.tasks[1:]]}
    return Source(log=log, stamps=found, has_commit_ids=tracker is None)


def with_own_rows(story, row):
    """Return the story if the source had a row per change; a waiter had waited for that row."""
    return [
        (
            tuple(f"{one}{at}" if one == row else one for one in writes),
            tuple(f"{one}{at}" if one == row else one for one in reads),
            waited and row not in (*(writes), *(reads if writes else ())),
            group,
        )
        for at, (writes, reads, waited, group) in enumerate(story)
    ]


def with_pieces(story, rows_max):
    """Return the story if the source had committed so many rows at a time."""
    found, later, number = [], {}, 0
    for writes, reads, waited, group in story:
        pieces = [writes[at : at + rows_max] for at in range(0, len(writes), rows_max)] or [()]
        for at, piece in enumerate(pieces):
            if at or group not in later:
                number += 1
                later[group] = number
            found.append((piece, reads, waited, later[group]))
    return found


def moments(source, applier, workers):
    """Return when each transaction commits."""
    return source.moments(APPLIERS[applier], workers).done


def restamp(source, log, parents, tracker):
    return replace(source, log=log, stamps={WRITESET: restamped(log, parents, tracker)})


def row_disagreement(story, row, change=without_row, restamping=commit_parents):
    """Return where the predicted split of a row differs from the log that was written so."""
    really = with_own_rows(story, row)
    before, after = written(story), written(really)
    changed = replace(before, log=change(before.log, key(row)))
    for name in MODES:
        for workers in WORKERS:
            if moments(changed, name, workers) != moments(after, name, workers):
                return name, workers
    before, after = written(story, CommitOrderTracker()), written(really, WritesetTracker())
    log = change(before.log, key(row))
    parents = restamping(before.log, before.stamps[AS_LOGGED])
    changed = restamp(before, log, parents, WritesetTracker())
    after.stamps[WRITESET] = after.stamps[AS_LOGGED]
    if list(map(str, changed.stamps[WRITESET])) != list(map(str, after.stamps[WRITESET])):
        return "stamps", changed.stamps[WRITESET], after.stamps[WRITESET]
    for workers in WORKERS:
        if moments(changed, "mysql-writeset", workers) != moments(after, "mysql-writeset", workers):
            return "mysql-writeset", workers
    return None


def piece_disagreement(story, rows_max, change=cut):
    """Return where predicted pieces differ from the log that was written so."""
    really = with_pieces(story, rows_max)
    before, after = written(story), written(really)
    log, _ = change(before.log, [0] * len(before.log.tasks), rows_max)
    for name in MODES:
        for workers in WORKERS:
            if moments(replace(before, log=log), name, workers) != moments(after, name, workers):
                return name, workers
    for tracker in (CommitOrderTracker, WritesetTracker):
        before, after = written(story, CommitOrderTracker()), written(really, tracker())
        parents = commit_parents(before.log, before.stamps[AS_LOGGED])
        changed = restamp(before, *change(before.log, parents, rows_max), tracker())
        if list(map(str, changed.stamps[WRITESET])) != list(map(str, after.stamps[AS_LOGGED])):
            return tracker.__name__, changed.stamps[WRITESET], after.stamps[AS_LOGGED]
        for workers in WORKERS:
            one = moments(changed, "mysql-writeset", workers)
            if one != moments(after, "mysql-as-logged", workers):
                return tracker.__name__, workers
    return None


@pytest.mark.long
@settings(suppress_health_check=SLOW)
@given(stories(), st.sampled_from(KEYS))
def test_split_row_is_predicted_as_the_log_with_that_row_split(story, row):
    assume(row in {one for writes, *_ in story for one in writes})
    assert row_disagreement(story, row) is None


@pytest.mark.long
@settings(suppress_health_check=SLOW)
@given(stories(reads=False, rows_max=5), st.integers(1, 3))
def test_pieces_are_predicted_as_the_log_with_those_transactions(story, rows_max):
    assert piece_disagreement(story, rows_max) is None


def _keeps_waiting(log, row):
    found = without_row(log, row)
    for task, old in zip(found.tasks, log.tasks, strict=True):
        task.has_waited = old.has_waited
    return found


def _drops_the_table(log, row):
    return without_table(log, row.table)


def _serial_parents(log, stamps):
    del stamps
    return [None, *range(log.count)]


def _keeps_groups(log, parents, rows_max):
    found, after = cut(log, parents, rows_max)
    for task in found.tasks:
        task.group = 1
    return found, after


def _keeps_parents(log, parents, rows_max):
    found, after = cut(log, parents, rows_max)
    return found, [parent and min(parent, 1) for parent in after]


@pytest.mark.long
@pytest.mark.parametrize(
    "fault",
    [partial(row_disagreement, row="a", change=_keeps_waiting),
     partial(row_disagreement, row="a", change=_drops_the_table),
     partial(row_disagreement, row="a", change=lambda log, row: log),
     partial(row_disagreement, row="a", restamping=_serial_parents),
     partial(piece_disagreement, rows_max=1, change=_keeps_groups),
     partial(piece_disagreement, rows_max=1, change=_keeps_parents),
     partial(piece_disagreement, rows_max=1, change=lambda log, parents, _: (log, parents))],
)  # fmt: skip
def test_wrong_change_is_caught(fault):
    story = stories(rows_max=5)
    find(story, lambda one: fault(one) is not None, settings=UNSHRUNK)


WAYS = {
    "mariadb": Ways(now="mariadb-conservative", workload="mariadb-optimistic", workers=8,
                    settings=(Setting(applier="mariadb-optimistic", change="mode"),)),
    "mysql": Ways(now="mysql-as-logged", workload="mysql-writeset", workers=8, forgets=True,
                  settings=(Setting(applier="mysql-writeset", change="tracking"),)),
}  # fmt: skip


def found_in(story, family):
    """Return the source of a story and its counterfactuals."""
    source = written(story, CommitOrderTracker() if family == "mysql" else None)
    if family == "mysql":
        parents = commit_parents(source.log, source.stamps[AS_LOGGED])
        source.stamps[WRITESET] = restamped(source.log, parents, WritesetTracker())
    ways = WAYS[family]
    known = [prediction(source, name, WORKERS) for name in (ways.now, ways.workload)]
    return source, known, counterfactuals(source, ways, known, prediction)


@pytest.mark.long
@settings(suppress_health_check=SLOW)
@given(stories(), st.sampled_from(sorted(WAYS)))
def test_listed_row_is_the_one_whose_split_gains_most(story, family):
    source, known, found = found_in(story, family)
    best = max(max(one.speedup.values(), default=0.0) for one in known)
    tracker = WritesetTracker() if family == "mysql" else None
    rows = [one.values[0] for one in hot_spots(source.log).rows]
    assume(len(rows) <= module.ROWS_MAX and all(one.speedup for one in known))
    names = [name for name in KEYS if key(name) in hot_spots(source.log).rows]
    assert len(names) == len(rows)
    gains = []
    for name in names:
        really = written(with_own_rows(story, name), tracker)
        applier = "mysql-as-logged" if tracker else "mariadb-optimistic"
        gains.append(prediction(really, applier, (8,)).speedup.get(8, 0.0) / best)
    listed = [one for one in found if one.kind == "row"]
    worth = [gain for gain in gains if gain >= module.GAIN_MIN]
    if 8 < module.MATTERS_FROM * best or not worth:
        assert not listed
    else:
        assert [pytest.approx(one.gain, abs=1e-3) for one in listed] == [max(worth)]


@pytest.mark.long
@settings(suppress_health_check=SLOW)
@given(stories(rows_max=5), st.sampled_from(sorted(WAYS)))
def test_nothing_slower_is_listed_and_the_greatest_gain_comes_first(story, family):
    _, known, found = found_in(story, family)
    gains = [one.gain for one in found]
    assert gains == sorted(gains, reverse=True)
    best = max(max(one.speedup.values(), default=0.0) for one in known)
    for one in found:
        assert one.gain >= module.GAIN_MIN
        assert one.kind == "setting" or one.then > best
        if one.kind == "setting":
            now = next(other for other in known if other.applier == one.now_applier)
            assert one.then > max(now.speedup.values())


def test_hot_row_is_found_among_others():
    story = [((f"x{at}", "hot"), (), False, at) for at in range(20)]
    for family in WAYS:
        _, _, found = found_in(story, family)
        best = found[0]
        assert (best.kind, best.change) == (
            "row", "a row of its own for each change of d.t.PRIMARY('hot')"
        )  # fmt: skip
        assert best.gain > 2
    calm = [((f"x{at}", f"y{at}"), (), False, 0) for at in range(20)]
    assert all(found_in(calm, family)[2] == [] for family in WAYS)


def test_large_transactions_in_pieces_gain(monkeypatch):
    # One large transaction holds the commits of seven others back.
    story = [(tuple(f"big{n}" for n in range(40)), (), False, 0)]
    story += [((f"x{at}",), (), False, 0) for at in range(40)]
    monkeypatch.setattr(module, "PIECE_ROWS", (20, 5))
    for family in WAYS:
        _, _, found = found_in(story, family)
        assert [(one.kind, one.change) for one in found] == [
            ("pieces", "transactions of at most 5 rows")
        ]


def test_history_that_forgets_is_shown_with_the_size_that_suffices(monkeypatch):
    monkeypatch.setattr(module, "HISTORY_SIZES", (6, 8, 100))
    monkeypatch.setattr(module, "HISTORY_DEFAULT", 2)
    story = [((f"x{at}", f"y{at}"), (), False, 0 if at < 1 else at) for at in range(16)]
    source = written(story, CommitOrderTracker())
    parents = commit_parents(source.log, source.stamps[AS_LOGGED])
    source.stamps[WRITESET] = restamped(source.log, parents, WritesetTracker(2))
    known = [prediction(source, name, WORKERS) for name in ("mysql-as-logged", "mysql-writeset")]
    found = counterfactuals(source, WAYS["mysql"], known, prediction)
    sizes = [one for one in found if one.kind == "history"]
    really = written(story, WritesetTracker(6))
    assert "history_size=6 " in sizes[0].change
    assert sizes[0].then == prediction(really, "mysql-as-logged", (8,)).speedup[8]
    assert sizes[0].now == known[1].speedup[8] < sizes[0].then


@pytest.mark.parametrize("family", sorted(WAYS))
def test_no_gain_rests_on_unknown_keys(family):
    story = [((f"x{at}", "hot"), (), False, at) for at in range(20)]
    source, known, found = found_in(story, family)
    assert found
    source.unknown_tables = ("d.t",)
    assert prediction(source, WAYS[family].now, WORKERS).speedup == {}
    assert counterfactuals(source, WAYS[family], known, prediction) == [
        each for each in found if each.kind == "setting"
    ]
    # Whatever the unknown keys are, the times are the same.
    source.freest = replace(source)
    assert counterfactuals(source, WAYS[family], known, prediction) == found


# Lag.


def timed(count, gap_us, burst=1):
    """Return a log without parallelism: bursts of transactions of one row."""
    story = [(("a",), (), False, at) for at in range(count)]
    source = written(story, CommitOrderTracker())
    for at, task in enumerate(source.log.tasks[1:]):
        task.logged_at_us = 1_000_000 + (at // burst) * gap_us * burst
    return source


@pytest.mark.parametrize(("count", "burst"), [(60, 1), (60, 3), (84, 2)])
def test_lag_of_one_worker_is_that_of_a_queue(count, burst):
    source = timed(count, 1_000, burst)
    found = module._Found(source, WAYS["mysql"], (), prediction)
    case = module._Case(source, "mysql-as-logged", 8, 1.0)
    step = 700.0
    times = [task.logged_at_us - 1_000_000 for task in source.log.tasks[1:]]
    expected, end = [0.0] * module.LAG_POINTS, 0
    for time in times:
        arrival = round(time / step)
        end = max(arrival, end) + 2
        at = min(module.LAG_POINTS - 1, time * module.LAG_POINTS // times[-1])
        expected[at] = max(expected[at], (end - arrival) * step)
    assert found.lags(case, step, times[-1]) == expected
    assert len(set(expected)) > 5
    # A run without times is as before.
    assert moments(source, "mysql-as-logged", 8)[-1] == 2 * count


def test_lag_falls_with_the_change_and_needs_times():
    story = [((f"x{at}",), (), False, at) for at in range(60)]
    source = written(story, CommitOrderTracker())
    parents = commit_parents(source.log, source.stamps[AS_LOGGED])
    source.stamps[WRITESET] = restamped(source.log, parents, WritesetTracker())
    for at, task in enumerate(source.log.tasks[1:]):
        task.logged_at_us = 1_000_000 + at * at * 1_000
    known = [prediction(source, name, WORKERS) for name in ("mysql-as-logged", "mysql-writeset")]
    (one,) = counterfactuals(source, WAYS["mysql"], known, prediction)
    assert len(one.lag) == module.LAG_POINTS
    assert max(point.then for point in one.lag) < max(point.now for point in one.lag) / 2
    for task in source.log.tasks[1:]:
        task.logged_at_us = (task.logged_at_us // 1_000_000) * 1_000_000
    (coarse,) = counterfactuals(source, WAYS["mysql"], known, prediction)
    assert coarse.lag == ()
    assert replace(one, lag=()) == coarse


# The trackers against MySQL 9.7, which tracks write sets.


def recorded(folder):
    files = sorted((LOGS / "mysql-9.7.4" / folder).glob("bin.0*"))
    schema = files[0].with_name("schema.sql")
    return logged_source(
        tuple(map(str, files)), str(schema) if schema.is_file() else None, Extent()
    )


@pytest.mark.parametrize("folder", ["keys", "types", "load-full-metadata", "rotation", "restart"])
def test_stamps_of_a_server_that_tracks_write_sets_stay(folder):
    source = recorded(folder)
    assert source.stamps[WRITESET] == source.stamps[AS_LOGGED]


@pytest.mark.parametrize(("folder", "count"), [("keys", 219), ("types", 78)])
def test_stamps_of_the_server_follow_from_its_rows_alone(folder, count):
    source = recorded(folder)
    parents = [0, *range(source.log.count)]
    for task in source.log.tasks[2:]:
        if task.clock != source.log.tasks[task.number - 1].clock:
            parents[task.number] = 0
    found = restamped(source.log, parents, WritesetTracker())
    forgetful = restamped(source.log, parents, WritesetTracker(1))
    rows = [
        task.number - 1
        for task in source.log.tasks[1:]
        if task.rows and not (task.has_missing_keys or task.is_barrier)
    ]
    assert len(rows) == count
    logged = source.stamps[AS_LOGGED]
    assert [found[at] for at in rows] == [logged[at] for at in rows]
    assert [forgetful[at] for at in rows] != [logged[at] for at in rows]


# Reports.


@pytest.mark.long(quick=4)
@pytest.mark.parametrize(
    ("family", "version"),
    [("mariadb", one) for one in ("10.0.38", "10.11.19")]
    + [("mysql", one) for one in ("5.7.21", "5.7.44", "8.0.36", "8.4.0", "9.7.4")],
)
def test_only_what_a_version_has_is_shown(family, version, monkeypatch):
    tried = []
    monkeypatch.setattr(
        "paraply.auditing.predicting.counterfactuals", lambda *given: tried.append(given) or []
    )
    folder = "mariadb-10.11.19" if family == "mariadb" else "mysql-9.7.4"
    request = AuditRequest(files=(str(LOGS / folder / "load-full-metadata" / "bin.000001"),))
    result = audit(request)
    result.files = [FileSummary(name="bin.000001", server=version, format=family)]
    predict(request, result)
    ((_, ways, _, _),) = tried
    number = tuple(map(int, version.split(".")))
    settings = {one.applier for one in ways.settings}
    tracks = family == "mysql" and number >= (5, 7, 22)
    assert (ways.workload == "mysql-writeset") == tracks
    assert ways.forgets == (tracks and number < (9, 5, 0))
    assert ways.always_tracks == (family == "mysql" and number >= (8, 4, 0))
    assert ("mysql-writeset" in settings) == (tracks and not ways.always_tracks)
    speculates = family == "mariadb" and number >= (10, 1, 3)
    assert ("mariadb-optimistic" in settings) == speculates
    assert all(one.change == LEVERS[one.applier] for one in ways.settings)


def one(gain, change="x", lag=()):
    return Counterfactual(
        kind="row", change=change, now_applier="mysql-as-logged", now_workers=4, now=2.0,
        applier="mysql-writeset", workers=8, then=2.0 * gain, lag=lag,
    )  # fmt: skip


def test_first_screen_has_the_three_greatest_gains_of_a_fifth_that_no_step_mentions():
    result = AuditResult(
        counterfactuals=[one(gain, f"change {gain}") for gain in (5, 4, 3, 2, 1.21, 1.19)]
    )
    lines = list(faster_lines(result, ["change 4 is predicted"]))
    assert [line.text.partition(":")[0] for line in lines] == ["change 5", "change 3", "change 2"]
    result.counterfactuals = result.counterfactuals[-2:]
    assert [line.lead for line in faster_lines(result, [])] == ["1.2 times as fast"]


def test_document_has_all_with_their_lag():
    point = LagPoint(second=0.5, now=2.0, then=0.25)
    result = AuditResult(counterfactuals=[one(1.5, lag=(point,)), one(1.05)])
    found = to_document(result)["counterfactuals"]
    assert [(each["gain"], each["now"], each["then"]) for each in found] == [
        (1.5, 2.0, 3.0), (1.05, 2.0, 2.1)
    ]  # fmt: skip
    assert found[0]["lag"] == [{"second": 0.5, "now": 2.0, "then": 0.25}]


def test_page_and_details_show_the_lag():
    lag = tuple(LagPoint(second=at, now=2.0 * at, then=at / 4) for at in range(1, 21))
    model = parallelism("row-conflicts", 4.0, 8)
    result = AuditResult(parallelism=[model], counterfactuals=[one(1.5, "change <x>", lag)])
    page = render_html(result)
    assert "change &lt;x&gt;" in page
    assert "<x>" not in page
    assert page.count("Seconds behind") >= 2
    assert "40.0 s" in page
    assert "5.0 s" in page
    shown = render_terminal(result, width=100, colour=False)
    assert "at most 5.0 s, 5.0 s at the end" in shown


def test_all_keys_of_a_split_row_go_and_parents_stay():
    tables = Tables().add("d.t", "id", "code", unique=(1,)).add("d.p", "id")
    tasks = LoggedTasks(tables)
    parent = ConflictKey(table="d.p", index="PRIMARY", values=(7,))
    for at in (1, 2):
        change = RowChange(
            table="d.t", operation=Operation.UPDATE, before=(1, f"c{at}"), after=(1, f"c{at + 1}"),
            position=LogPosition(file="bin.000001", offset=at),
        )  # fmt: skip
        keys = {key for row in (change.before, change.after) for key in tables.keys_of("d.t", row)}
        tasks.add(replace(transaction(at, rows=[change]), keys=frozenset(keys),
                          shared_keys=frozenset({parent})))  # fmt: skip
    log = tasks.log()
    assert log.tasks[2].rows[0].follows == (1,)
    hot = hot_spots(log).rows
    # The first wait is for the row, or for the code that both change.
    assert {str(one) for one in hot} == {"d.t.PRIMARY(1)", "d.t.uk1('c2')", "d.p.PRIMARY(7)"} - {
        str(parent)
    }
    for row in hot:
        changed = without_row(log, row)
        assert changed.tasks[2].rows[0].follows == ()
        assert changed.subjects[changed.tasks[2].rows[0].reads[0]] == parent
    assert without_table(log, "d.p").tasks[2].rows[0].follows == (1,)


def test_change_leaves_the_log_as_it_is():
    builder = LogBuilder()
    hot, own = (builder.key(key(name)) for name in ("a", "b"))
    for _ in range(2):
        builder.add([RowEvent(table="t", writes=(hot,))])
    builder.add([RowEvent(table="t", writes=(own,)) for _ in range(2)])
    log = builder.log()
    before = deepcopy(log)
    changed = without_row(log, key("a"))
    assert log == before
    assert [task.rows[-1].follows for task in log.tasks[1:]] == [(), (1,), ()]
    assert [task.rows[-1].follows for task in changed.tasks[1:]] == [(), (), ()]


def test_beginning_of_a_real_log_shows_a_hot_row(tmp_path):
    stored = ROOT / "tests" / "fixtures" / "timing"
    file = tmp_path / "hot.000001"
    file.write_bytes(gzip.decompress((stored / "hot.000001.gz").read_bytes()))
    request = AuditRequest(files=(str(file),), schema=str(stored / "schema.sql"))
    result = audit(request)
    predict(request, result)
    best = result.counterfactuals[0]
    assert best.change == "a row of its own for each change of d.hot.PRIMARY(1)"
    assert best.gain > 2
    text = render_html(result)
    assert "What would be faster" in text
    assert best.change in text
    assert any(best.change in line.text for line in faster_lines(result, []))
