"""Client runs against what vendors document."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.adapters.elle.operations import OperationType
from paraply.adapters.live.clients.options import (
    BANK,
    COUNTER,
    LIST_APPEND,
    SET,
    ClientOptions,
    IsolationLevel,
    Route,
)
from paraply.adapters.live.clients.recorder import Recorder
from paraply.adapters.live.clients.run import (
    ClientRound,
    LoggedPlace,
    confirmed_writers,
    with_log_order,
)
from paraply.adapters.live.clients.site import WAITS
from paraply.adapters.live.target import LiveRequest
from paraply.adapters.live.targets import TARGETS
from paraply.observing.claims import ADMISSIONS, DOCUMENTS, PROMISES, claim_of
from paraply.observing.clients import (
    COMMITTED_MIN,
    LOG_TOTAL,
    LOST,
    PREFIX_TOTAL,
    Status,
    new_client_result,
    take_client_round,
)
from paraply.properties.isolation.objects import OBJECT_PHENOMENA
from paraply.properties.isolation.phenomena import LEVELS, PHENOMENA
from paraply.reporting.clients_text import client_json, client_text
from paraply.vocabulary.verdict import Verdict

SERIALIZABLE, REPEATABLE_READ = IsolationLevel.SERIALIZABLE, IsolationLevel.REPEATABLE_READ


def recording(*texts, fillers=COMMITTED_MIN):
    """Record ``server: micro-operations`` one after the other, after serial ones of other keys."""
    recorder = Recorder()
    for number in range(1, fillers + 1):
        key = 1_000 + number // 20
        ok(recorder, "m1", (("r", key, tuple(seen(recorder, key))), ("append", key, number)))
    for text in texts:
        server, _, words = text.partition(": ")
        ok(recorder, server, tuple(micro(word) for word in words.split()))
    return recorder


def seen(recorder, key):
    for one in recorder.operations:
        if one.type is OperationType.OK:
            yield from (v for name, k, v in one.value if name == "append" and k == key)


def ok(recorder, server, value, function="txn"):
    process = len(recorder.servers)
    recorder.invoke(process, function, value, server)
    recorder.complete(OperationType.OK, process, function, value, server)


def micro(word):
    key, values = int(word[1]), word[2:]
    if word[0] == "a":
        return ("append", key, int(values))
    return ("r", key, tuple(map(int, values)) or None)


def round_of(recorder, *, missing=None, places=None):
    confirmed = confirmed_writers(recorder)
    if places is None:
        places = {
            number: LoggedPlace(gtid=f"0-1-{number}", position=f"bin.000001:{number}")
            for number in sorted(confirmed)
        }
    return ClientRound(
        number=1, seed=0, recorder=recorder, history=with_log_order(recorder.history(), places),
        places=places, confirmed=confirmed, missing=missing or {},
        evidence={"server": "S 1.2.3", "committed": recorder.count(OperationType.OK)},
    )  # fmt: skip


def judged(target, mode, options, one):
    result = new_client_result(target, LiveRequest(mode=mode), options)
    take_client_round(result, one)
    return result


LOST_UPDATE = ("m1: a11", "m1: r11 a12", "m2: r11 a13", "m3: r1123")


def test_lost_update_is_documented_on_one_server_and_refutes_a_cluster():
    # Recorded one after the other, so the second reader is behind as well.
    options = ClientOptions(isolation=REPEATABLE_READ, reads=Route.REPLICA)
    single = judged("mysql", "logical-clock", options, round_of(recording(*LOST_UPDATE)))
    assert single.findings["all", "P4"].status is Status.DOCUMENTED
    assert single.verdict() is not Verdict.VIOLATED
    cluster = judged("galera", "multi-master", options, round_of(recording(*LOST_UPDATE)))
    finding = cluster.findings["all", "P4"]
    assert (finding.status, finding.broken, finding.between_servers) == (Status.KNOWN, 1, 1)
    assert cluster.verdict() is Verdict.VIOLATED
    assert cluster.verdict(allow_documented=True) is not Verdict.VIOLATED


def test_serializable_server_with_a_lost_update_is_refuted_by_name_and_gtid():
    options = ClientOptions(isolation=SERIALIZABLE)
    result = judged("mysql", "logical-clock", options, round_of(recording(*LOST_UPDATE)))
    assert result.findings["all", "P4"].status is Status.REFUTED
    for allow in (False, True):
        assert result.verdict(allow_documented=allow) is Verdict.VIOLATED
    text = " ".join(client_text(result).split())
    assert "T102 and T103 both read 1 = [1] and both wrote it anew" in text
    assert "T103, client 102 on m2: [r 1 [1]] [append 1 3] GTID 0-1-103 at bin.000001:103" in text
    assert "violated: documents exclude" in text
    found = next(one for one in client_json(result)["findings"] if one["phenomenon"] == "P4")
    assert (found["status"], found["seen"]) == ("refuted", 1)


def test_serial_recording_confirms_what_is_promised():
    recorder = recording("m1: a11", "m1: r11 r2", "m1: r11 a12", "m1: r112")
    result = judged("mysql", "logical-clock", ClientOptions(isolation=SERIALIZABLE),
                    round_of(recorder))  # fmt: skip
    assert result.verdict() is Verdict.HOLDS
    assert result.findings["all", "stale read"].status is Status.CONFIRMED
    assert "holds: 104 transactions contradict no document" in client_text(result)


def test_few_transactions_establish_nothing():
    result = judged("mysql", "logical-clock", ClientOptions(isolation=SERIALIZABLE),
                    round_of(recording("m1: a11", "m1: r11", fillers=5)))  # fmt: skip
    assert result.verdict() is Verdict.UNKNOWN
    assert "unknown: 7 transactions were confirmed; at least 100 count" in client_text(result)


def test_stale_read_is_documented_without_a_wait_and_refutes_one():
    stale = round_of(recording("m1: a11", "m2: r1"))
    waits = {"none": Status.DOCUMENTED, "sync-wait": Status.REFUTED}
    for wait, status in waits.items():
        options = ClientOptions(isolation=REPEATABLE_READ, wait=wait)
        result = judged("galera", "multi-master", options, stale)
        assert result.findings["all", "stale read"].status is status
        assert (result.verdict() is Verdict.VIOLATED) == (status is Status.REFUTED)


def test_lost_commit_refutes_every_target():
    for target in TARGETS:
        one = round_of(recording(), missing={"m2": [7]})
        result = judged(target.name, target.modes[0], ClientOptions(), one)
        assert result.findings["all", LOST].status is Status.REFUTED
        assert result.verdict() is Verdict.VIOLATED


def test_readers_of_a_repeatable_read_replica_must_see_one_snapshot():
    skewed = round_of(recording("m1: a11 a21", "m2: r11 r2"))
    options = ClientOptions(isolation=REPEATABLE_READ, reads=Route.REPLICA)
    result = judged("mysql", "logical-clock", options, skewed)
    assert result.findings["read-only", "G-single"].status is Status.REFUTED
    assert result.findings["all", "G-single"].status is Status.DOCUMENTED
    assert result.verdict() is Verdict.VIOLATED


def bank(*reads, changes):
    recorder = Recorder()
    for _ in range(COMMITTED_MIN):
        ok(recorder, "m1", {"from": 0, "to": 1, "amount": 1}, "transfer")
    for read in reads:
        ok(recorder, "m1", dict(enumerate(read)), "read")
    places = {
        number: LoggedPlace(gtid=f"0-1-{number}", position="bin:4",
                            total_change=changes.get(number, 0))
        for number in range(1, COMMITTED_MIN + 1)
    }  # fmt: skip
    return round_of(recorder, places=places)


@pytest.mark.parametrize(
    ("reads", "changes", "broken"),
    [
        ([(100, 100)], {}, set()),
        # A lost update in the log, and a reader who saw its result.
        ([(100, 100), (100, 95)], {9: -5}, {"bank total", LOG_TOTAL}),
        # The log is right, and a reader saw half of a transfer.
        ([(100, 105)], {}, {"bank total", PREFIX_TOTAL}),
    ],
)
def test_bank_tells_a_lost_update_in_the_log_from_a_torn_read(reads, changes, broken):
    options = ClientOptions(workload=BANK, isolation=SERIALIZABLE, keys=2)
    result = judged("mysql", "logical-clock", options, bank(*reads, changes=changes))
    found = {one.label for one in result.findings.values() if one.broken}
    assert found == broken
    assert result.verdict() is (Verdict.VIOLATED if broken else Verdict.HOLDS)
    if changes:
        assert (
            result.findings["all", LOG_TOTAL]
            .witness.transactions[0]
            .endswith("from 0, to 1, amount 1 GTID 0-1-9 at bin:4")
        )


def objects(workload, *texts, fillers=COMMITTED_MIN):
    """Record ``server: micro-operations`` (``+15`` adds 5 to 1, ``r1:2,3``) after writes of 9."""
    recorder = Recorder()
    write = "add" if workload == SET else "inc"
    for number in range(1, fillers + 1):
        ok(recorder, "m1", ((write, 9, number if workload == SET else 1),))
    total = tuple(range(1, fillers + 1)) if workload == SET else fillers
    session = len(recorder.servers)
    for text in texts:
        server, _, words = text.partition(": ")
        value = tuple(object_micro(word, workload, write) for word in words.split())
        recorder.invoke(session, "txn", value, server)
        recorder.complete(OperationType.OK, session, "txn", value, server)
    for server in dict.fromkeys(text.partition(": ")[0] for text in texts):
        ok(recorder, server, (("r", 9, total),))
    return recorder


def object_micro(word, workload, write):
    if word[0] == "+":
        return (write, int(word[1]), int(word[2:]))
    key, _, values = word[1:].partition(":")
    shown = tuple(int(one) for one in values.split(",") if one)
    return ("r", int(key), shown if workload == SET else shown[0])


STALE = {SET: ("m1: +11", "m2: r1:", "m2: r1:1", "m1: r1:1"),
         COUNTER: ("m1: +11", "m2: r1:0", "m2: r1:1", "m1: r1:1")}  # fmt: skip
LOSES = {SET: ("m1: +11", "m1: +12", "m1: r1:2", "m2: r1:2"),
         COUNTER: ("m1: +11", "m1: +11", "m1: r1:1", "m2: r1:1")}  # fmt: skip
BACK = {SET: ("m1: +11", "m1: r1:1", "m1: r1:", "m1: r1:1"),
        COUNTER: ("m1: +11", "m1: r1:1", "m1: r1:0", "m1: r1:1")}  # fmt: skip


@pytest.mark.parametrize("workload", [SET, COUNTER])
def test_stale_objects_are_documented_at_a_lagging_replica_and_refute_a_wait(workload):
    one = round_of(objects(workload, *STALE[workload]))
    waits = {"none": Status.DOCUMENTED, "gtid-wait": Status.REFUTED}
    for wait, status in waits.items():
        options = ClientOptions(workload=workload, reads=Route.REPLICA, wait=wait)
        result = judged("mysql", "logical-clock", options, one)
        assert result.findings["all", "stale read"].status is status
        assert (result.verdict() is Verdict.VIOLATED) == (status is Status.REFUTED)


@pytest.mark.parametrize("route", Route)
def test_replica_that_shows_what_its_source_has_not_committed_yet_breaks_no_wait(route):
    # The binary log is sent before the engine commit: the replica may be first.
    recorder = objects(COUNTER)
    recorder.invoke(1, "txn", (("inc", 1, 1),), "m1")
    for server, shown in (("m2", 1), ("m1", 0)):
        recorder.invoke(2, "txn", (("r", 1, None),), server)
        recorder.complete(OperationType.OK, 2, "txn", (("r", 1, shown),), server)
    recorder.complete(OperationType.OK, 1, "txn", (("inc", 1, 1),), "m1")
    for server in ("m1", "m2"):
        ok(recorder, server, (("r", 1, 1), ("r", 9, COMMITTED_MIN)))
    options = ClientOptions(workload=COUNTER, reads=route, wait="gtid-wait")
    found = judged("existing", "as-configured", options, round_of(recorder)).findings
    # Where all read at the source, nothing explains it.
    status = Status.REFUTED if route is Route.SOURCE else Status.PERMITTED
    assert found["all", "monotonic reads"].status is status
    assert found["all", "stale read"].status is Status.CONFIRMED


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("workload", [SET, COUNTER])
@pytest.mark.parametrize("level", IsolationLevel, ids=lambda one: one.value)
def test_lost_objects_refute_every_target_and_level(workload, level):
    label = "lost element" if workload == SET else "lost increment"
    for target in TARGETS:
        options = ClientOptions(workload=workload, isolation=level)
        one = round_of(objects(workload, *LOSES[workload]))
        result = judged(target.name, target.modes[0], options, one)
        assert result.findings["all", label].status is Status.REFUTED
        assert result.verdict(allow_documented=True) is Verdict.VIOLATED
    if workload == SET:
        assert "GTID 0-1-101 at bin" in result.findings["all", label].witness.transactions[0]


@pytest.mark.parametrize("workload", [SET, COUNTER])
def test_reads_at_one_server_may_go_back_at_read_uncommitted_alone(workload):
    for level in IsolationLevel:
        options = ClientOptions(workload=workload, isolation=level, reads=Route.ANY)
        one = round_of(objects(workload, *BACK[workload]))
        result = judged("galera", "multi-master", options, one)
        status = result.findings["all", "monotonic reads at one server"].status
        is_promised = level is not IsolationLevel.READ_UNCOMMITTED
        assert status is (Status.REFUTED if is_promised else Status.PERMITTED)


@pytest.mark.parametrize("workload", [SET, COUNTER])
def test_serial_recording_of_objects_confirms_what_is_promised(workload):
    texts = [text for text in STALE[workload] if text not in ("m2: r1:", "m2: r1:0")]
    result = judged("mysql", "logical-clock", ClientOptions(workload=workload),
                    round_of(objects(workload, *texts, "m1: r1:1")))  # fmt: skip
    assert result.verdict() is Verdict.HOLDS
    confirmed = {label for (view, label), one in result.findings.items()
                 if view == "all" and one.status is Status.CONFIRMED}  # fmt: skip
    main = "lost element" if workload == SET else "lost increment"
    assert confirmed >= {main, "stale read", "final reads", "monotonic reads at one server", LOST}
    assert result.findings["read-only", "prefix"].status is Status.CONFIRMED
    if workload == SET:
        assert result.evidence["elements stable"] == COMMITTED_MIN + 1


def test_objects_without_final_reads_leave_the_promise_unknown():
    recorder = Recorder()
    for number in range(1, COMMITTED_MIN + 1):
        ok(recorder, "m1", (("add", 1, number),))
    result = judged("mysql", "logical-clock", ClientOptions(workload=SET), round_of(recorder))
    assert result.verdict() is Verdict.UNKNOWN
    assert result.evidence["elements never read"] == COMMITTED_MIN
    assert "have no final read" in result.findings["all", "lost element"].reason


def test_overwritten_increment_of_the_log_is_named_with_its_gtid():
    places = {
        number: LoggedPlace(gtid=f"0-1-{number}", position=f"bin:{number}",
                            counted=((9, before, before + 1),))
        for number, before in zip(range(1, COMMITTED_MIN + 1), [0, 0, *range(1, 99)], strict=True)
    }  # fmt: skip
    one = round_of(objects(COUNTER), places=places)
    result = judged("galera", "multi-master", ClientOptions(workload=COUNTER), one)
    finding = result.findings["all", "logged increment"]
    assert (finding.status, finding.broken) == (Status.REFUTED, 1)
    assert finding.witness.sentence == "T1 left 9 = 1 in the log, and T2 after it incremented 0"
    assert [text[-18:] for text in finding.witness.transactions] == [
        "GTID 0-1-1 at bin:1"[-18:], "GTID 0-1-2 at bin:2"[-18:]
    ]  # fmt: skip


def test_claims_name_known_targets_modes_waits_levels_phenomena_and_documents():
    modes = {target.name: target.modes for target in TARGETS}
    labels = {one.label for one in (*PHENOMENA, *OBJECT_PHENOMENA)}
    levels = {one.name for one in LEVELS}
    for one in (*PROMISES, *ADMISSIONS):
        condition = one.condition
        assert one.source in DOCUMENTS
        for target in condition.targets:
            assert set(condition.modes) <= set(modes[target])
            assert set(condition.waits) <= set(WAITS[target]), one.text
    assert {name for one in PROMISES for name in (*one.levels, *one.reader_levels)} <= levels
    assert {label for one in ADMISSIONS for label in one.phenomena} <= labels
    for target, names in modes.items():
        for mode in names:
            for level in IsolationLevel:
                options = ClientOptions(workload=LIST_APPEND, isolation=level)
                claim = claim_of(target, mode, options)
                assert claim.promises or claim.admissions or "AFTER" in mode


def test_a_bank_of_a_level_that_promises_nothing_about_totals_is_not_refuted():
    options = ClientOptions(workload=BANK, isolation=IsolationLevel.READ_COMMITTED, keys=2)
    result = judged("mysql", "logical-clock", options, bank((100, 95), changes={9: -5}))
    assert result.findings["all", "bank total"].status is Status.PERMITTED
    assert result.verdict() is Verdict.HOLDS
    assert replace(options, isolation=SERIALIZABLE) != options
