"""Transactions that are decoded on first use are those of the readable way, and so is a watch."""

from __future__ import annotations

import json
import random
from itertools import pairwise, takewhile
from pathlib import Path

import pytest

from ci.bench import mixes
from paraply.adapters.binlog import live_events
from paraply.adapters.binlog.live_events import EventBlock, SentEvents, SentTransaction
from paraply.verifying.watch.comparing import Comparison
from paraply.verifying.watch.pair import PairOptions
from paraply.verifying.watch.service import Watch
from paraply.vocabulary.errors import ParaplyError
from tests.builders.binlog_writer import BinlogWriter, optional_metadata
from tests.builders.column_specs import enum, integer, real, set_of
from tests.builders.hot_logs import hot_log
from tests.builders.log_compressor import compress
from tests.builders.log_forger import ForgedLog, RawEvent
from tests.verifying.watch.runs import findings_of, judged, request_of, run_until
from tests.verifying.watch.sent_logs import SentLog
from tests.verifying.watch.test_real_logs import BINLOGS

RECORDED = sorted(path.parent for path in BINLOGS.glob("*/*/bin.000001"))
REPLICAS = sorted(path.parent for path in BINLOGS.glob("*/*/replica-bin.000001"))
DIALECTS = ("mariadb", "mysql")
TABLE_MAP, ROTATE, ROWS = 19, 4, (23, 24, 25, 30, 31, 32)


@pytest.fixture(scope="session")
def generated(tmp_path_factory):
    """Return a path for each dialect and kind of load."""
    folder, made = tmp_path_factory.mktemp("logs"), {}
    for dialect in DIALECTS:
        path = folder / f"{dialect}-hot.000001"
        made[dialect, "hot"] = hot_log(path, dialect=dialect, size_bytes=150_000, seed=5)
        path = folder / f"{dialect}-mixed.000001"
        with pytest.MonkeyPatch.context() as patch:
            for name in ("CUSTOMERS", "TARIFFS"):
                patch.setattr(mixes, name, 32)
            patch.setattr(mixes, "LOAD_ROWS", 8)
            mixes.generate(
                path, kind="production", dialect=dialect, size_bytes=60_000, seed=3, block=24
            )
        made[dialect, "mixed"] = path
    return made


def damaged(log: ForgedLog, draw: random.Random, share: float) -> ForgedLog:
    """Change bytes of events, whose checksums become right again."""
    for event in log.events[1:]:
        if event.body and draw.random() < share:
            at = draw.choice(
                (draw.randrange(len(event.body)), -1 - draw.randrange(min(9, len(event.body))))
            )
            event.body[at] = draw.choice((0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)))
        if event.body and draw.random() < share / 8:
            del event.body[-draw.randint(1, min(12, len(event.body))) :]
        if draw.random() < share / 8:
            event.code = draw.choice((2, 16, 19, 24, 27, 29, 31, 33, 36, 99, 160, 162))
    return log


def events_of(data: bytes) -> list[bytes]:
    events, at = [], 4
    while at < len(data):
        end = at + int.from_bytes(data[at + 9 : at + 13], "little")
        events.append(data[at:end])
        at = end
    return events


def in_blocks(events: list[bytes], draw: random.Random) -> list[bytes]:
    """Join events to blocks of drawn sizes; one whose header has another length comes alone."""
    blocks, at = [], 0
    while at < len(events):
        joined = list(
            takewhile(
                lambda event: int.from_bytes(event[9:13], "little") == len(event),
                events[at : at + draw.choice((1, 1, 2, 3, 7, 40, 400))],
            )
        )
        is_block = len(joined) > 1 or (joined and draw.random() < 0.5)
        blocks.append(EventBlock(b"".join(joined)) if is_block else events[at])
        at += max(1, len(joined))
    return blocks


def shown(sent) -> tuple:
    txn = sent.transaction
    return (
        sent.gtid, sent.domain, sent.kind, sent.complete, sent.row_count, sent.row_tables,
        sent.events, sent.head, txn, txn.session, [row.unchecked for row in txn.rows], sent.tables,
    )  # fmt: skip


def read(
    events: list[bytes], draw: random.Random | None, **options
) -> tuple[list, list, SentEvents]:
    """Return all transactions, the error at the end, and the feed."""
    feed, found, errors = SentEvents(decodes=draw is None, **options), [], []
    feed.on_file("bin.000001")
    try:
        for block in events if draw is None else in_blocks(events, draw):
            for sent in feed.take(block):
                found.append(sent)
            if draw is not None and draw.random() < 0.1:
                [shown(sent) for sent in found[-2:]]
    except ParaplyError as error:
        errors.append((error.error.code, error.where, error.text))
    return found, errors, feed


def assert_alike(events: list[bytes], draw: random.Random, **options) -> int:
    """Compare both ways; return how many transactions were not decoded."""
    expected, errors, feed = read(events, None, **options)
    found, its_errors, its_feed = read(events, draw, **options)
    light = sum(sent._decoded is None for sent in found)
    assert its_errors == errors
    order = list(range(len(found)))
    draw.shuffle(order)  # Decoding needs no order.
    for at in order:
        assert repr(shown(found[at])) == repr(shown(expected[at]))
    assert len(found) == len(expected)
    if not errors:
        places = [(each.file, each.offset, each.is_inside) for each in (feed, its_feed)]
        assert places[0] == places[1] or feed.is_inside
    return light


@pytest.mark.long(quick=18)
@pytest.mark.parametrize("folder", RECORDED, ids=lambda f: f"{f.parent.name}/{f.name}")
def test_recorded_transactions_are_the_same(folder):
    light = 0
    for path in sorted(folder.glob("*bin.0*")):
        if not path.suffix[1:].isdecimal() or folder.name == "encrypted":
            continue
        events = events_of(path.read_bytes())
        for seed in range(3):
            light += assert_alike(events, random.Random(seed))
    if folder.name.startswith(("load", "keys", "no-checksum")):
        assert light > 20


@pytest.mark.long(quick=9)
@pytest.mark.parametrize("folder", RECORDED, ids=lambda f: f"{f.parent.name}/{f.name}")
def test_damaged_recorded_transactions_are_the_same(folder):
    if folder.name == "encrypted":
        pytest.skip("a server sends it decrypted")
    draw = random.Random(11)
    for path in sorted(folder.glob("*bin.0*"))[:1]:
        for _ in range(12):
            log = damaged(ForgedLog.read(path), draw, draw.choice((0.002, 0.01, 0.05)))
            assert_alike(events_of(log.data()), draw)


@pytest.mark.long
@pytest.mark.parametrize("load", ["hot", "mixed"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_damaged_generated_transactions_are_the_same(generated, dialect, load):
    draw = random.Random(12)
    light = 0
    for number in range(30):
        log = ForgedLog.read(generated[dialect, load])
        if number % 5 == 4:
            log = compress(log, draw, 0.3)
        log = damaged(log, draw, draw.choice((0, 0.0005, 0.003)))
        events = events_of(log.data())
        if number % 3 == 2:  # Without mending the checksum.
            at = draw.randrange(len(events) // 2, len(events))
            event = bytearray(events[at])
            event[draw.randrange(len(event))] ^= 1 << draw.randrange(8)
            events[at] = bytes(event)
        options = {"row_bytes_max": 500} if number % 7 == 6 else {}
        light += assert_alike(events, draw, **options)
    assert light > 100


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("limit", ["REST_BYTES_MAX", "MAPS_MAX", "BODIES_BYTES_MAX"])
def test_limits_change_nothing(generated, dialect, limit, monkeypatch):
    scanner = live_events._scanning()
    if limit == "REST_BYTES_MAX":
        monkeypatch.setattr(live_events, limit, 300)
    else:
        monkeypatch.setattr(scanner, limit, {"MAPS_MAX": 2, "BODIES_BYTES_MAX": 90}[limit])
    events = events_of(generated[dialect, "mixed"].read_bytes())
    for seed in range(4):
        assert assert_alike(events, random.Random(seed)) > 0


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("load", ["hot", "mixed"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_same_content_has_no_difference(generated, dialect, load):
    draw = random.Random(13)
    sources, _, _ = read(events_of(generated[dialect, load].read_bytes()), random.Random(1))
    alike = unlike = 0
    for _ in range(12):
        log = damaged(ForgedLog.read(generated[dialect, load]), draw, 0.002)
        for event in log.events:
            if event.code == TABLE_MAP or event.code in ROWS:
                event.body[5] ^= 1  # A replica has other table ids.
            if event.code in ROWS and draw.random() < 0.05:
                event.body[-1 - draw.randrange(9)] ^= 1 << draw.randrange(8)
        targets, _, _ = read(events_of(log.data()), draw)
        by_name = {sent.gtid: sent for sent in targets}
        for source in sources:
            target = by_name.get(source.gtid)
            if target is None:
                continue
            comparison = Comparison()
            is_same = source.has_same_content(target)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(SentTransaction, "has_same_content", lambda *_: False)
                text = comparison.difference(source, target)
            if is_same:
                assert (text, comparison.doubts) == ("", {})
            alike += is_same
            unlike += bool(text)
    assert alike > 200
    assert unlike > 10


# Whole watches


def replica_of(log: ForgedLog, draw: random.Random, fault: str) -> ForgedLog:
    """Return the log of a replica: other table ids and annotations, and a fault."""
    for event in log.events:
        if event.code == TABLE_MAP or event.code in ROWS:
            event.body[4] ^= 3
    log.events = [event for event in log.events if event.code not in (29, 160)]
    starts = [*log.starts(), len(log.events)]
    blocks = [log.events[a:b] for a, b in pairwise(starts)]
    rows = [at for at, block in enumerate(blocks) if any(e.code in ROWS for e in block)]
    for _ in range(3):
        at = draw.choice(rows[len(rows) // 4 : -12])
        block = blocks[at]
        if fault == "changed":
            event = draw.choice([each for each in block if each.code in ROWS])
            event.body[-1 - draw.randrange(4)] ^= 1
        elif fault == "redefined":
            for event in block:
                if event.code == TABLE_MAP:
                    event.body[-1] ^= 1
        elif fault == "swapped":
            blocks[at], blocks[at + 1] = blocks[at + 1], blocks[at]
        elif fault == "delayed":
            blocks.insert(at + 9, blocks.pop(at))
        elif fault == "lost":
            blocks[at] = []
        elif fault == "twice":
            blocks.insert(
                at + 5,
                [
                    RawEvent(e.time_s, e.code, e.server_id, e.flags, bytearray(e.body))
                    for e in block
                ],
            )
        elif fault == "shorter":
            del block[[each.code in ROWS for each in block].index(True)]
    log.events = [*log.events[: starts[0]], *(event for block in blocks for event in block)]
    return log


def watched(
    folder: Path,
    paths: tuple[Path, Path],
    seed: int,
    *,
    is_mariadb: bool,
    is_broken: bool = True,
    **options,
):
    """Watch, with breaks of connections and a restart; return all that can be seen.

    After a break a repeated transaction is not sent again.
    """
    folder.mkdir()
    draw = random.Random(seed)
    streams = [
        SentLog(
            path, name=name, is_mariadb=is_mariadb, block_bytes=draw.choice((0, 1, 900, 20_000)),
            breaks_after=lambda: draw.choice((None, 60, 200)) if is_broken else None,
        )
        for path, name in zip(paths, ("source", "replica"), strict=True)
    ]  # fmt: skip
    request = request_of(*streams, folder, options=PairOptions(**options))
    half = len(streams[1].gtids) // 2

    def is_half(watch: Watch) -> bool:
        watch.save()
        return watch.snapshots()[0].counts.matched > half or judged(streams[1])(watch)

    if is_broken:
        run_until(Watch(request), is_half)
    watch = run_until(Watch(request), judged(streams[1]))
    (pair,) = watch.pairs
    state = json.loads(json.dumps(pair.state().as_json()))
    return findings_of(folder), state, pair.unknown_because(), watch.verdict


def assert_watches_agree(folder: Path, paths: tuple[Path, Path], monkeypatch, **options) -> list:
    monkeypatch.setattr("paraply.verifying.watch.reading._RETRY_S", (0.001,))
    monkeypatch.setattr("paraply.verifying.watch.pair._ASK_AFTER_S", 0.01)
    light = watched(folder / "light", paths, 1, **options)
    monkeypatch.setattr(live_events, "_scanning", lambda: None)
    readable = watched(folder / "readable", paths, 2, **options)
    for mine, theirs in zip(light, readable, strict=True):
        assert mine == theirs
    return light[0]


FAULTS = (
    "none",
    "changed",
    "redefined",
    "swapped",
    "delayed",
    "lost",
    "twice",
    "shorter",
    "errant",
)


@pytest.mark.long(quick=12)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("load", ["hot", "mixed"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_watch_finds_the_same(generated, dialect, load, fault, tmp_path, monkeypatch):
    draw = random.Random(f"{dialect} {load} {fault}")
    path = generated[dialect, load]
    source = path
    if fault == "errant":
        source = replica_of(ForgedLog.read(path), draw, "lost").save(tmp_path / "source.000001")
    target = replica_of(ForgedLog.read(path), draw, fault).save(tmp_path / "target.000001")
    found = assert_watches_agree(
        tmp_path, (source, target), monkeypatch, is_mariadb=dialect == "mariadb", patience=4,
        is_broken=fault != "twice",
    )  # fmt: skip
    if fault in ("changed", "lost", "twice", "errant"):
        assert found


@pytest.mark.long(quick=6)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("fault", ["none", "changed", "lost"])
def test_watch_with_filtered_tables_finds_the_same(
    generated, dialect, fault, tmp_path, monkeypatch
):
    path = generated[dialect, "mixed"]
    tables = sorted(
        {name for sent in read(events_of(path.read_bytes()), None)[0] for name in sent.row_tables}
    )
    target = replica_of(ForgedLog.read(path), random.Random(4), fault)
    assert_watches_agree(
        tmp_path, (path, target.save(tmp_path / "target.000001")), monkeypatch,
        is_mariadb=dialect == "mariadb", patience=4, filtered=frozenset(tables[::2]),
    )  # fmt: skip


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("folder", REPLICAS, ids=lambda f: f"{f.parent.name}/{f.name}")
@pytest.mark.parametrize("fault", ["none", "changed", "delayed", "lost"])
def test_watch_of_recorded_replicas_finds_the_same(folder, fault, tmp_path, monkeypatch):
    log = replica_of(ForgedLog.read(folder / "replica-bin.000001"), random.Random(6), fault)
    assert_watches_agree(
        tmp_path, (folder / "bin.000001", log.save(tmp_path / "target.000001")), monkeypatch,
        is_mariadb="mariadb" in folder.parent.name, patience=4,
    )  # fmt: skip


# Values that the scanner has to look at


def log_of_values(values: bytes) -> list[bytes]:
    """Return a log that inserts a row of FLOAT, DOUBLE, ENUM, SET and BIGINT as encoded."""
    columns = [
        real(4).named("f"),
        real(8).named("d"),
        enum("a", "b", "c").named("e"),
        set_of("x", "y", "z").named("s"),
        integer(8).named("n"),
    ]
    writer = BinlogWriter()
    writer.gtid(1, last_committed=0, sequence_number=1, immediate_us=5)
    writer.query("BEGIN")
    writer.table_map(columns, metadata=optional_metadata(columns))
    writer.rows(30, columns, [], row_data=b"\0" + values)
    writer.xid()
    return events_of(bytes(writer.data))


PLAIN = (b"\0\0\x80\x3f", b"\0" * 6 + b"\xf0\x3f", b"\3", b"\7", b"\0" * 8)
ODD_VALUES = {
    "plain": (0, PLAIN[0], True),
    "infinite FLOAT": (0, b"\0\0\x80\x7f", True),
    "NaN FLOAT": (0, b"\1\0\x80\x7f", False),
    "negative NaN FLOAT": (0, b"\0\0\xc0\xff", False),
    "infinite DOUBLE": (1, b"\0" * 6 + b"\xf0\xff", True),
    "NaN DOUBLE": (1, b"\0" * 6 + b"\xf8\x7f", False),
    "NaN DOUBLE in its last bit": (1, b"\1" + b"\0" * 5 + b"\xf0\x7f", False),
    "ENUM error": (2, b"\0", True),
    "ENUM beyond": (2, b"\4", False),
    "SET beyond": (3, b"\x08", False),
    "one byte less": (4, b"\0" * 7, False),
    "one byte more": (4, b"\0" * 9, False),
}


@pytest.mark.parametrize("name", ODD_VALUES)
def test_values_that_may_be_refused_or_unlike_themselves_are_decoded(name):
    at, value, is_plain = ODD_VALUES[name]
    events = log_of_values(b"".join((*PLAIN[:at], value, *PLAIN[at + 1 :])))
    assert_alike(events, random.Random(1))
    found, _, _ = read(events, random.Random(1))
    assert all((sent._decoded is None) == is_plain for sent in found)
    assert found or not is_plain


def test_row_of_no_bytes_is_refused():
    columns = [integer(8).named("n")]
    writer = BinlogWriter()
    writer.gtid(1, last_committed=0, sequence_number=1, immediate_us=5)
    writer.query("BEGIN")
    writer.table_map(columns, metadata=optional_metadata(columns))
    writer.rows(30, columns, [], before_present=[False], row_data=b"\0")
    writer.xid()
    events = events_of(bytes(writer.data))
    assert_alike(events, random.Random(1))
    _, errors, _ = read(events, random.Random(1))
    assert [code for code, _, _ in errors] == ["P107"]
