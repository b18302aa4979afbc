"""Client workloads: what they run, how outcomes are recorded, and what the log adds."""

from __future__ import annotations

import random

import pytest

from paraply.adapters.elle.histories import BankHistory, client_history
from paraply.adapters.elle.operations import OperationType, read_operations
from paraply.adapters.elle.writing import edn_lines, json_lines
from paraply.adapters.live.clients.load import ClientLoad
from paraply.adapters.live.clients.options import (
    BANK,
    CLIENT_WORKLOADS,
    COUNTER,
    LIST_APPEND,
    LONG_FORK,
    RW_REGISTER,
    SET,
    ClientOptions,
    IsolationLevel,
    Route,
)
from paraply.adapters.live.clients.run import confirmed_writers, places_in, with_log_order
from paraply.adapters.live.clients.site import NOTHING_AWAITED, WAITS, Site, wait_named
from paraply.adapters.live.clients.workloads import workload_of
from paraply.adapters.live.targets import TARGETS
from paraply.properties.isolation.freshness import judge_freshness
from paraply.properties.isolation.judging import judge
from paraply.properties.isolation.objects import judge_objects
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.log import LoggedKind, LoggedTransaction, LogPosition, Operation, RowChange
from paraply.vocabulary.verdict import Verdict
from tests.adapters.live.client_store import Store


def recorded(store, workload=LIST_APPEND, *, transactions=120, clients=4, seed=3, others=()):
    """Run clients on a store; return what they recorded."""
    options = ClientOptions(workload=workload, reads=Route.ANY if others else Route.SOURCE)
    site = Site(
        version_text="store", schema="s", writers=[store], others=others, log=lambda: ()
    )  # fmt: skip
    load = ClientLoad(
        site, workload_of(options, "s"), NOTHING_AWAITED, options=options, clients=clients,
        seed=seed, transactions=transactions,
    )  # fmt: skip
    load.start()
    load.wait(60)
    load.stop()
    load.read_finally()
    return load.recorder


def logged(number, tag, *, rows=()):
    place = LogPosition(file="/data/bin.000001", offset=100 * number)
    journal = RowChange(
        table="s.journal", operation=Operation.INSERT, before=None, after=(tag,), position=place
    )
    return LoggedTransaction(
        ordinal=number, kind=LoggedKind.ROWS, start=place, end_offset=0, gtid=f"0-1-{number}",
        rows=[*rows, journal],
    )  # fmt: skip


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("workload", CLIENT_WORKLOADS)
def test_clients_of_a_serial_store_record_a_history_that_holds(workload):
    store = Store()
    recorder = recorded(store, workload)
    assert recorder.count(OperationType.OK) >= 120
    assert recorder.count(OperationType.FAIL) == recorder.count(OperationType.INFO) == 0
    history = recorder.history()
    assert confirmed_writers(recorder) == {tag for tag, _ in store.order}
    if isinstance(history, BankHistory):
        assert {sum(read.balances.values()) for read in history.reads} == {600}
        return
    places = places_in([logged(n, tag) for n, (tag, _) in enumerate(store.order, start=1)])
    if workload in (SET, COUNTER):
        findings = by_label(with_log_order(history, places))
        main = "lost element" if workload == SET else "lost increment"
        certain = {main, "stale read", "monotonic reads", "monotonic reads at one server", "prefix"}
        assert {label for label, one in findings.items() if one.verdict is Verdict.HOLDS} >= certain
        assert not [label for label, one in findings.items() if one.breaches]
        return
    judged = judge(with_log_order(history, places))
    assert judged.level("serializable").verdict is Verdict.HOLDS
    assert judged.finding("prefix").verdict is Verdict.HOLDS
    if workload in (LIST_APPEND, RW_REGISTER):
        assert judge_freshness(with_log_order(history, places)).verdict is Verdict.HOLDS


def test_store_that_serves_an_old_state_is_caught():
    finding = judge_freshness(recorded(Store(is_stale=True)).history())
    assert finding.verdict is Verdict.VIOLATED


def by_label(history):
    return {one.phenomenon.label: one for one in judge_objects(history)}


OLD_STATE = {"final reads", "stale read", "monotonic reads"}


@pytest.mark.parametrize(
    ("workload", "store", "others", "expected"),
    [
        (SET, Store(loses=True), [], {"lost element", "stale read"}),
        (COUNTER, Store(loses=True), [], {"lost increment", "stale read"}),
        (SET, Store(), [Store(is_stale=True)], OLD_STATE),
        (COUNTER, Store(), [Store(is_stale=True)], OLD_STATE),
    ],
    ids=["lost elements", "lost increments", "set of an idle replica", "counter of one"],
)
def test_store_that_loses_or_does_not_apply_is_caught(workload, store, others, expected):
    for number, one in enumerate(others, start=1):
        one.name = f"replica{number}"
    findings = by_label(recorded(store, workload, others=others).history())
    # A client that read its own lost write sees less later.
    found = {label for label, one in findings.items() if one.breaches}
    assert expected <= found <= {*expected, "monotonic reads", "monotonic reads at one server"}


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("workload", [SET, COUNTER])
@pytest.mark.parametrize("code", [2013, 1213])
def test_commit_of_unknown_outcome_may_have_happened_and_a_refused_one_may_not(workload, code):
    # The store commits and then reports the error, so a refusal is a lie.
    findings = by_label(recorded(Store(commit_error=code), workload).history())
    label = "G1a" if workload == SET else "counter too high"
    assert bool(findings[label].breaches) == (code == 1213)


def test_replica_that_never_applies_is_caught_by_what_clients_read_there():
    replica = Store(is_stale=True)
    replica.name = "replica1"
    recorder = recorded(Store(), others=[replica])
    assert {"store", "replica1"} == set(recorder.servers)
    assert judge_freshness(recorder.history()).verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    ("code", "kind"),
    [(2013, OperationType.INFO), (1053, OperationType.INFO), (1105, OperationType.INFO),
     (1213, OperationType.FAIL), (3101, OperationType.FAIL)],
)  # fmt: skip
def test_error_at_commit_is_a_failure_only_where_the_server_rolled_back(code, kind):
    recorder = recorded(Store(commit_error=code), transactions=40)
    assert recorder.count(kind) > 0
    other = {OperationType.INFO, OperationType.FAIL} - {kind}
    assert recorder.count(other.pop()) == 0
    assert recorder.errors() == {f"OperationalError {code}": recorder.count(kind)}
    if kind is OperationType.INFO:
        # The store did commit; a process whose operation never ended invokes no more.
        ended = [one.process for one in recorder.operations if one.type is kind]
        assert len(set(ended)) == len(ended)
        assert judge(recorder.history()).finding("G1a").verdict is not Verdict.VIOLATED


@pytest.mark.parametrize("workload", CLIENT_WORKLOADS)
def test_exports_read_as_what_was_recorded(workload):
    recorder = recorded(Store(), workload, transactions=30)
    expected = recorder.history()
    for is_json, lines in ((False, edn_lines), (True, json_lines)):
        text = "\n".join(lines(recorder.operations))
        read = client_history(read_operations(text, is_json=is_json))
        if isinstance(expected, BankHistory):
            assert [sum(one.balances.values()) for one in read.reads] == [
                sum(one.balances.values()) for one in expected.reads
            ]
        else:
            assert read == expected


def test_log_gives_places_by_the_journal_and_what_transfers_change():
    place = LogPosition(file="bin", offset=4)
    rows = [
        RowChange(table="s.bank", operation=Operation.UPDATE, before=(1, 100), after=(1, 90),
                  position=place),
        RowChange(table="s.bank", operation=Operation.UPDATE, before=(2, 100), after=(2, 105),
                  position=place),
    ]  # fmt: skip
    places = places_in([logged(7, 3, rows=rows), logged(8, 1)])
    assert list(places) == [3, 1]
    assert (places[3].gtid, places[3].position, places[3].total_change) == (
        "0-1-7", "bin.000001:700", -5,
    )  # fmt: skip


def test_log_gives_the_values_before_and_after_each_increment():
    place = LogPosition(file="bin", offset=4)
    row = RowChange(table="s.counters", operation=Operation.UPDATE, before=(2, 6), after=(2, 7),
                    position=place)  # fmt: skip
    (found,) = places_in([logged(7, 3, rows=[row])]).values()
    assert (found.counted, found.total_change) == (((2, 6, 7),), 0)


def test_log_without_a_committed_writer_gives_no_order():
    store = Store()
    history = recorded(store, RW_REGISTER, transactions=20).history()
    whole = [logged(n, tag) for n, (tag, _) in enumerate(store.order, start=1)]
    assert with_log_order(history, places_in(whole)).log == tuple(tag for tag, _ in store.order)
    assert with_log_order(history, places_in(whole[1:])).log is None


def test_values_are_unique_and_keys_are_replaced():
    workload = workload_of(ClientOptions(workload=LIST_APPEND, keys=2), "s")
    dice = random.Random(1)
    plans = [workload.plan(dice) for _ in range(400)]
    written = [(key, v) for plan in plans for name, key, v in plan.value if name == "append"]
    assert len(set(written)) == len(written)
    assert len({key for key, _ in written}) > 10
    assert all(plan.is_read_only == all(m[0] == "r" for m in plan.value) for plan in plans)
    assert workload_of(ClientOptions(workload=LONG_FORK), "s").writing(dice).value[0][2] == 1
    assert workload_of(ClientOptions(workload=BANK), "s").plan(dice, is_reader=True).is_read_only


def test_every_target_has_its_waits_and_names_them_when_asked_for_another():
    assert set(WAITS) == {target.name for target in TARGETS}
    with pytest.raises(ParaplyError, match="galera has no wait 'gtid-wait'"):
        wait_named("galera", "gtid-wait")
    assert IsolationLevel.REPEATABLE_READ.sql == "REPEATABLE READ"
