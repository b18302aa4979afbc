"""Error logs of Galera members: who begins, who commits, and what was sent with which numbers."""

from __future__ import annotations

import paraply.properties.all
from paraply.adapters.live.galera.log import (
    Committed,
    ProviderLog,
    SentWriteSet,
    provider_log_of,
    read_provider_log,
)
from paraply.adapters.live.galera.order import tables_of, with_order
from paraply.adapters.live.galera.windows import seen_inside
from paraply.adapters.live.observed import Member
from paraply.adapters.live.source_log import Keys, source_log
from paraply.vocabulary.log import LoggedKind
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import ISOLATED, TransactionKind
from tests.adapters.live.observations import STATEMENTS, change, logged, update

assert paraply.properties.all

TRX = "source: 1e8d-f6b6 version: 6 local: {local} flags: 1 conn_id: 22 trx_id: 49 tstamp: 17;"
NUMBERS = " state:  seqnos (l: {l}, g: {g}, s: {s}, d: {d}) WS pa_range: 8; state history: R:0"


def said(thread, text):
    return f"2026-11-21  3:40:51 {thread} [Note] WSREP: {text}\n"


def released(thread, seqno, last_seen, depends):
    numbers = NUMBERS.format(l=seqno + 12, g=seqno, s=last_seen, d=depends)
    own = TRX.format(local=1)
    return said(
        thread,
        f"./galera/src/replicator_smm.cpp:release_commit():1442: release_commit() for trx: {own}"
        f" state: EXECUTING:0->COMMITTED:-1 ts: {own}{numbers}",
    )


def applied(thread, seqno):
    return [
        said(thread, "applying event 1, type 160, buf_len 508"),
        said(thread, "applying event 2, type 24, buf_len 0"),
        said(thread, "wsrep_before_prepare: 1"),
        said(thread, f"wsrep_before_commit: 1, {seqno}"),
        said(thread, f"wsrep_ordered_commit: 1 {seqno}"),
        said(thread, f"wsrep_after_commit: 1, 1, {seqno}, 0"),
        said(thread, f"wsrep_after_apply {thread}"),
    ]


def test_applier_begins_with_its_first_event_and_ends_with_its_commit():
    log = read_provider_log([*applied(7, 19), *applied(7, 21)])
    assert log.committed == [
        Committed(seqno=19, thread=7, begun=1, place=5),
        Committed(seqno=21, thread=7, begun=8, place=12),
    ]
    assert not log.sent


def test_appliers_at_once_are_told_apart_by_their_threads():
    first, second = applied(7, 19), applied(8, 20)
    log = read_provider_log([first[0], second[0], *first[1:], *second[1:]])
    assert [(one.seqno, one.begun) for one in log.committed] == [(19, 1), (20, 2)]


def test_own_write_set_has_numbers_and_no_beginning():
    log = read_provider_log([said(23, "wsrep_ordered_commit: 1 22"), released(23, 22, 20, 18)])
    assert log.committed == [Committed(seqno=22, thread=23, begun=None, place=1)]
    assert log.sent == [SentWriteSet(seqno=22, last_seen=20, depends=18)]


def test_attempt_that_did_not_commit_is_no_beginning_of_the_next():
    lines = [said(7, "applying event 1, type 160, buf_len 1"), said(7, "wsrep_after_apply 7")]
    log = read_provider_log([*lines, said(7, "wsrep_ordered_commit: 1 22")])
    assert [one.begun for one in log.committed] == [None]


def test_replayed_transaction_makes_the_beginnings_of_its_thread_unknown():
    place = "./galera/src/wsrep_provider.cpp:galera_replay_trx():309"
    replay = said(7, f"{place}: replaying {TRX.format(local=1)}")
    log = read_provider_log([*applied(7, 19), replay, *applied(8, 20), *applied(7, 21)])
    assert [(one.seqno, one.begun) for one in log.committed] == [(19, None), (20, 9), (21, None)]


def test_isolated_change_begins_on_appliers_and_has_numbers_where_it_was_sent():
    place = "./galera/src/replicator_smm.cpp"
    numbers = TRX.format(local=0) + NUMBERS.format(l=99, g=30, s=28, d=29)
    on_applier = read_provider_log([
        said(7, f"{place}:apply_trx():505: Executing TO isolated action: {numbers}"),
        said(7, "applying event 1, type 15, buf_len 109"),
        said(7, "applying event 1, type 2, buf_len 0"),
        said(7, "Apply TO END: 30: ALTER TABLE live0.scratch ADD COLUMN c INT"),
        said(8, "applying event 1, type 160, buf_len 508"),
        said(7, f"{place}:apply_trx():545: Done executing TO isolated action: 30"),
    ])  # fmt: skip
    assert on_applier.committed == [Committed(seqno=30, thread=7, begun=2, place=4)]
    at_sender = read_provider_log([
        said(23, f"{place}:to_isolation_begin():1834: Executing TO isolated action: {numbers}"),
        said(23, f"{place}:to_isolation_end():1893: Done executing TO isolated action: {numbers}"),
    ])  # fmt: skip
    assert at_sender.committed == [Committed(seqno=30, thread=23, begun=None, place=2)]
    assert at_sender.sent == [SentWriteSet(seqno=30, last_seen=28, depends=29)]


def test_other_lines_and_bytes_that_are_no_text_are_passed_over(tmp_path):
    file = tmp_path / "server.log"
    before = b"2026-11-21 13:40:50 7 [Note] WSREP: wsrep_ordered_commit: 1 18\n"
    file.write_bytes(before + b"Victim query: \xff\xfe\n\n" + "".join(applied(7, 19)).encode())
    log = provider_log_of(file, len(before))
    assert log.committed == [Committed(seqno=19, thread=7, begun=3, place=7)]


# Both logs of a member together

LOG = [update(1, 1), logged(2, kind=LoggedKind.DDL), update(3, 1)]
LOG[1].statements = ["ALTER TABLE live0.scratch ADD COLUMN c INT"]


def provider(*seqnos, sent=()):
    return ProviderLog(
        sent=[SentWriteSet(seqno=s, last_seen=seen, depends=d) for s, seen, d in sent],
        committed=[
            Committed(seqno=seqno, thread=7, begun=10 * place, place=10 * place + 5)
            for place, seqno in enumerate(seqnos, start=1)
        ],
    )


def test_seqnos_and_gtids_go_together_in_their_order():
    seen = seen_inside([Member(name="m1", log=LOG)], {"m1": provider(21, 23, 20)})
    assert seen.seqnos == {"0-1-1": 20, "0-1-2": 21, "0-1-3": 23}
    assert [(one.gtid, one.start) for one in seen.windows["m1"]] == [
        ("0-1-1", 30), ("0-1-2", 10), ("0-1-3", 20)
    ]  # fmt: skip
    assert (seen.begun, seen.unmatched) == (3, [])


def test_member_with_more_commits_than_transactions_says_nothing():
    members = [Member(name="m1", log=LOG), Member(name="m2", log=LOG)]
    seen = seen_inside(members, {"m1": provider(20, 21, 22, 23), "m2": provider(20, 21, 23)})
    assert seen.unmatched == ["m1"]
    assert list(seen.windows) == ["m2"]


def test_member_that_counts_otherwise_says_nothing():
    members = [Member(name="m1", log=LOG), Member(name="m2", log=LOG)]
    seen = seen_inside(members, {"m1": provider(20, 21, 23), "m2": provider(20, 21, 24)})
    assert seen.unmatched == ["m2"]


def test_member_that_came_back_without_its_log_may_have_counted_alone():
    members = [Member(name="m1", log=LOG), Member(name="m3", has_log=False)]
    alone = provider(20, sent=[(20, 19, 19)])
    seen = seen_inside(members, {"m1": provider(20, 21, 23, sent=[(20, 18, 17)]), "m3": alone})
    assert seen.sent == {20: ("m1", SentWriteSet(seqno=20, last_seen=18, depends=17))}


def test_transactions_are_told_with_their_numbers_and_the_isolated_with_its_table():
    sent = ((20, 18, 17), (21, 20, 20), (23, 20, 20))
    members = [Member(name="m1", log=LOG)]
    seen = seen_inside(members, {"m1": provider(20, 21, 23, sent=sent)})
    first, isolated, last = with_order(source_log(LOG, Keys(STATEMENTS)).transactions, seen)
    assert (first.origin, first.snapshot_version) == ("m1", 0)
    assert first.timestamp == LogicalTimestamp.of(17, 20)
    assert isolated.kind is TransactionKind.ROWS
    assert ISOLATED in isolated.flags
    assert isolated.write_set == {"live0.scratch"}
    # Of three transactions its sender had seen the first.
    assert last.snapshot_version == 1


def ordered(changes, depends):
    """Return the depends_seqno with which changes, sent as seqnos from 20 on, are told."""
    numbers = range(20, 20 + len(changes))
    sent = [(seqno, 19, told) for seqno, told in zip(numbers, depends, strict=True)]
    seen = seen_inside([Member(name="m1", log=changes)], {"m1": provider(*numbers, sent=sent)})
    keys = Keys((*STATEMENTS, "CREATE TABLE live0.keyless (x INT, w BIGINT)"))
    told = with_order(source_log(changes, keys).transactions, seen)
    return [one.timestamp.last_committed for one in told]


def test_what_only_the_sender_forgot_binds_no_other_member():
    """A sender that has purged up to 21 tells 21; who has not waits for 20, and may begin."""
    changes = [update(1, 1), update(2, 2), update(3, 3), update(4, 1)]
    assert ordered(changes, (19, 19, 21, 21)) == [19, 19, 19, 20]


def test_sender_that_tells_less_than_its_rows_need_is_believed():
    assert ordered([update(1, 1), update(2, 1), update(3, 1)], (19, 19, 20)) == [19, 19, 20]


def test_write_to_a_table_without_a_key_binds_every_member():
    changes = [update(1, 1), logged(2, change("keyless", None, (1, 102))), update(3, 3)]
    assert ordered(changes, (19, 20, 21)) == [19, 20, 21]


def test_transactions_without_seqnos_stay_as_they_are():
    transactions = source_log(LOG, Keys(STATEMENTS)).transactions
    assert with_order(transactions, seen_inside([], {})) == transactions


def test_schema_change_names_its_tables_or_itself():
    assert tables_of("CREATE TABLE live0.t (i INT)") == {"live0.t"}
    assert tables_of("ALTER TABLE `live0`.`a` DROP COLUMN c") == {"live0.a"}
    assert tables_of("DROP TABLE `live0`.`a` /* generated by server */") == {"live0.a"}
    assert tables_of("CREATE VIEW v AS SELECT 1") == {"CREATE VIEW v AS SELECT 1"}


def test_number_that_no_provider_writes_is_passed_over():
    said = "2026-11-21 14:09:22 7 [Note] WSREP: wsrep_ordered_commit: 1 "
    log = read_provider_log([f"{said}{'9' * 5_000}\n", f"{said}431\n"])
    assert [one.seqno for one in log.committed] == [431]
