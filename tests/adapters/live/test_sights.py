"""What is seen of a semi-synchronous source, and the history that it makes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.adapters.live.semi_sync.sights import DumpReader, Sight, SightKind, seen_history
from paraply.adapters.live.source_log import Keys, source_log
from tests.adapters.live.observations import BYTES, RUN, STATEMENTS, update

DUMP = b"\x05\x00\x00\x00\x12abcd"
ACK_BODY = b"\xef" + (700).to_bytes(8, "little") + b"bin.000002"
ACK = len(ACK_BODY).to_bytes(3, "little") + b"\x00" + ACK_BODY


def packet(event, *, is_flagged):
    body = b"\x00" + (b"\xef\x01" if is_flagged else b"") + event
    return len(body).to_bytes(3, "little") + b"\x05" + body


def event(kind, end, content=b""):
    head = bytes(4) + bytes((kind,)) + bytes(8) + end.to_bytes(4, "little") + bytes(2)
    return head + content


def file(kind, name="bin.000001", offset=0):
    return Sight(kind=kind, file=name, offset=offset)


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_acknowledgement_is_read_however_it_is_cut(size):
    reader, seen = DumpReader(), []
    said = DUMP + ACK
    for start in range(0, len(said), size):
        seen += reader.take(True, said[start : start + size])
    assert seen == [file(SightKind.RECEIVED, "bin.000002", 700)]


def test_what_comes_before_the_dump_is_no_acknowledgement():
    reader = DumpReader()
    assert not [*reader.take(True, ACK)]
    assert not [*reader.take(False, packet(event(16, 400), is_flagged=True))]


@pytest.mark.parametrize("is_flagged", [True, False])
def test_sent_events_are_read_with_their_file_and_end(is_flagged):
    reader = DumpReader()
    assert not [*reader.take(True, DUMP)]
    rotate = event(4, 0, (4).to_bytes(8, "little") + b"bin.000003\x12\x34\x56\x78")
    said = packet(rotate, is_flagged=is_flagged) + packet(event(16, 400), is_flagged=is_flagged)
    assert [*reader.take(False, said)] == [file(SightKind.SENT, "bin.000003", 400)]


def told(*sights, commit_ids=(None, 7, 7)):
    logged = [
        replace(update(number, number), commit_id=commit_id)
        for number, commit_id in enumerate(commit_ids, start=1)
    ]
    history = seen_history(RUN, source_log(logged, Keys(STATEMENTS)), logged, sights).check()
    return [(e.kind.value, e.transaction or sorted(e.transactions)) for e in history.events]


def test_group_is_flushed_whole_before_the_first_event_that_needs_it():
    sent = file(SightKind.SENT, offset=3 * BYTES)
    assert told(sent) == [
        ("flushed", 1), ("synced", 1), ("flushed", 2), ("flushed", 3), ("synced", 2), ("synced", 3),
    ]  # fmt: skip
    assert told(file(SightKind.RECEIVED, offset=2 * BYTES), sent)[2:] == [
        ("acknowledged", 1), *told(sent)[2:]
    ]  # fmt: skip


def test_reader_and_client_need_the_flush_of_what_they_see():
    read = Sight(kind=SightKind.READ, tags=frozenset({101}))
    answered = Sight(kind=SightKind.ANSWERED, tags=frozenset({101}))
    flushed = [("flushed", 1), ("synced", 1)]
    assert told(read, answered) == [*flushed, ("read", []), ("client_acknowledged", 1)]
    assert told(answered) == [*flushed, ("client_acknowledged", 1)]
    assert told(replace(read, tags=frozenset({999}))) == []


def test_restart_keeps_what_is_in_the_files_before_it():
    found = told(file(SightKind.RESTARTED))
    assert found[-2:] == [("crashed", []), ("recovered", [1, 2, 3])]
    assert told(file(SightKind.RESTARTED, "bin.000000")) == [("crashed", []), ("recovered", [])]
