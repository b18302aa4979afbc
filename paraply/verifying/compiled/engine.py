"""Decides healthy logs; :mod:`paraply.verifying.pipeline` judges and explains all others."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from paraply.adapters.binlog.event_types import EventType
from paraply.properties.two_logs.commits import Commit
from paraply.properties.two_logs.compiled.columns import CommitColumns
from paraply.properties.two_logs.compiled.prefixes import PrefixJudgement, judge_prefixes
from paraply.properties.two_logs.identity import IdentityJudgement, difference
from paraply.verifying.compiled.scanned import (
    KIND,
    NUMBER,
    SINGLE,
    SOURCE,
    ScannedLog,
    ScannedRecording,
)
from paraply.verifying.in_parts import read_in_parts
from paraply.verifying.inputs import LogInput
from paraply.verifying.mapping import Plan, plan
from paraply.verifying.normalising import new_secret
from paraply.verifying.previous_gtids import before, had_before
from paraply.verifying.timing import Progress
from paraply.vocabulary.gtid_set import GtidSource
from paraply.vocabulary.not_compilable import NotCompilable

if TYPE_CHECKING:
    from paraply.verifying.pipeline import InParts, VerifyRequest

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
DIGEST_BITS = 64
"""Rows are compared by two digests of this size, without resistance to an adversary."""
MIXED = np.array([0x1B873593CC9E2D51, 0x2545F4914F6CDD1D, 0x369DEA0F31A53F85, 1], np.int64)
"""Makes one number of a name's four."""


@dataclass(slots=True, kw_only=True)
class ScannedCommits:
    """The judged commits of one side, as :class:`paraply.verifying.normalising.NormalisedLog`."""

    columns: CommitColumns
    numbers: array[int] = field(default_factory=lambda: array("Q"))

    @property
    def copies_max(self) -> int:
        """Return a bound on copies of a row without a key."""
        added = self.columns.after[self.columns.counts, 0]
        return int(np.abs(added.astype(np.int64)).sum())

    @property
    def changes(self) -> int:
        """Return the number of net changes."""
        return len(self.columns.keys)

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Commit]:
        return iter(self.columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Healthy:
    """Two logs whose target states are all prefixes, in order."""

    recordings: tuple[ScannedRecording, ScannedRecording]
    commits: tuple[ScannedCommits, ScannedCommits]
    skipped: tuple[int, int]
    """Commits that the other log had before its begin."""
    plan: Plan
    judged: PrefixJudgement
    names: IdentityJudgement | None
    progress: Progress


def healthy(
    request: VerifyRequest,
    source: LogInput,
    target: LogInput,
    advance: Callable[[float], None],
    stack: ExitStack,
    in_parts: InParts | None = None,
) -> Healthy:
    """Return the judgement of healthy logs; raises ``NotCompilable`` for all others."""
    if request.rules.tables or request.rules.keys:
        raise NotCompilable("tables are mapped")
    secret = new_secret()
    logs = ScannedLog(), ScannedLog()
    recordings = logs[0].recording, logs[1].recording
    for recording in recordings:
        stack.callback(recording.close)
    schemas = request.schema, request.target_schema
    if in_parts is None:
        logs[0].read(source, schemas[0], secret, advance)
        done = recordings[0].bytes_read
        logs[1].read(target, schemas[1], secret, lambda count: advance(done + count))
    else:
        read_in_parts(in_parts, (source.names, target.names), schemas, secret, logs, advance)
    if not all(recording.changes for recording in recordings):
        raise NotCompilable("a log has no rows")
    made = plan(*recordings, request.rules, same_log=False)
    _require_equal_tables(made, *logs)
    commits = _commits(logs[0], made), _commits(logs[1], made)
    names, skipped = None, [0, 0]
    if not request.by_content and recordings[0].has_gtids and recordings[1].has_gtids:
        had = [_had(*recordings), _had(*reversed(recordings))]
        names = _names(recordings, commits, had)
        _require_equal_statements(recordings, had, made, judges_end=request.judges_end)
        for side in range(2):
            judged_before = had[side][np.frombuffer(commits[side].numbers, np.uint64) - 1]
            skipped[side] = int(np.append(judged_before, False).argmin())
    found = judge_prefixes(
        *(each.columns.without_first(count) for each, count in zip(commits, skipped, strict=True)),
        window=request.window,
    )
    if found is None:
        raise NotCompilable("a target state is no prefix of the source")
    progress = Progress()
    for positions in (progress.positions, progress.furthest):
        positions.frombytes(found.positions.tobytes())
    return Healthy(
        recordings=recordings,
        commits=commits,
        skipped=(skipped[0], skipped[1]),
        plan=made,
        judged=found,
        names=names,
        progress=progress,
    )


def _commits(log: ScannedLog, made: Plan) -> ScannedCommits:
    judged = {pair.source for pair in made.pairs}
    columns, numbers = log.recording.columns(
        np.array([name in judged for name in log.recording.table_names], np.bool_)
    )
    return ScannedCommits(columns=columns, numbers=array("Q", numbers.astype(np.uint64).tobytes()))


def _require_equal_tables(made: Plan, source: ScannedLog, target: ScannedLog) -> None:
    """Refuse tables whose rows do not compare by bytes."""
    layouts = {layout.table: layout for layout in source.recording.layouts}
    theirs = {one.table: (one.columns, one.key) for one in target.recording.layouts}
    for pair in made.pairs:
        layout = layouts[pair.source]
        whole = tuple(column.source for column in pair.columns) == layout.columns
        key = tuple(layout.columns[at] for at in pair.key)
        if not whole or key != (layout.key or ()):
            raise NotCompilable(f"{pair.source} is compared in part")
        if (
            source.wires[pair.source] != target.wires[pair.source]
            or (layout.columns, layout.key) != theirs[pair.source]
        ):
            raise NotCompilable(f"{pair.source} differs in both logs")


def _names(
    recordings: Sequence[ScannedRecording],
    commits: tuple[ScannedCommits, ScannedCommits],
    had: Sequence[Flags],
) -> IdentityJudgement:
    """Return the judgement by name; refuse other transactions, and another order."""
    kept = [np.flatnonzero(~flags) + 1 for flags in had]
    count = len(kept[1])
    names = [_named(log, numbers) for log, numbers in zip(recordings, kept, strict=True)]
    if not count or not np.array_equal(names[0][:count], names[1]):
        raise NotCompilable("the target has other transactions, or in another order")
    order = np.sort(names[0] @ MIXED)
    if (order[1:] == order[:-1]).any():  # Equal numbers of different names only refuse.
        raise NotCompilable("a name comes twice")
    _require_equal_commits(*commits, kept[0][:count], kept[1])
    return IdentityJudgement(matched=count, lag=len(kept[0]) - count)


def _require_equal_statements(
    recordings: Sequence[ScannedRecording], had: Sequence[Flags], made: Plan, *, judges_end: bool
) -> None:
    """Refuse transactions that define judged tables in one log alone."""
    found = []
    judged = made.defined_by(is_target=False)
    for log, flags in zip(recordings, had, strict=True):
        kinds = log.names[~flags, KIND]
        numbers = np.flatnonzero(~flags) + 1
        singles = np.flatnonzero(kinds == SINGLE).tolist()
        headers = {at: log.header(int(numbers[at])) for at in singles}
        found.append({at for at, one in headers.items() if not judged.isdisjoint(one.defines)})
    came = len(kinds)
    if found[1] != {at for at in found[0] if judges_end or at < came}:
        raise NotCompilable("a log lacks a statement on a table")


def _had(log: ScannedRecording, other: ScannedRecording) -> Flags:
    """Return which transactions the other log left to its earlier files."""
    highest, known = before(other.report)
    had = had_before(other.report)
    names = log.names
    found = np.zeros(len(names), np.bool_)
    for kind, source in np.unique(names[:, [KIND, SOURCE]], axis=0).tolist():
        at = np.flatnonzero((names[:, KIND] == kind) & (names[:, SOURCE] == source))
        numbers = names[at, NUMBER]
        if kind == SINGLE:
            found[at] = [had(log.header(int(number) + 1).name) for number in at]
        elif kind == EventType.MARIADB_GTID:
            found[at] = numbers <= highest.get(str(source), -1)
        else:
            for first, last in known.numbers_of(GtidSource(str(log.uuid(source)))):
                found[at] |= (numbers >= first) & (numbers <= last)
    return found


def _named(log: ScannedRecording, numbers: Ints) -> Ints:
    """Return four numbers for each transaction, equal in both logs for equal names."""
    lines = log.names[numbers - 1]
    named = np.zeros((len(lines), 4), np.int64)
    single = np.flatnonzero(lines[:, KIND] == SINGLE)
    is_mariadb = lines[:, KIND] == EventType.MARIADB_GTID
    named[:, 0] = np.where(is_mariadb, lines[:, SOURCE], 0)
    named[:, 1:3] = np.where(is_mariadb[:, None], lines[:, [2, NUMBER]], 0)
    for source in np.unique(lines[lines[:, KIND] == EventType.GTID, SOURCE]).tolist():
        at = (lines[:, KIND] == EventType.GTID) & (lines[:, SOURCE] == source)
        named[at, :2] = np.frombuffer(log.uuid(source).bytes, np.int64)
        named[at, 2] = lines[at, NUMBER]
    for at in single.tolist():
        named[at] = _number_of(log.header(int(numbers[at])).name)
    return named


def _number_of(name: str) -> Ints:
    """As :func:`_named`, of a name as text."""
    uuid, _, number = name.rpartition(":")
    if uuid:
        if ":" in uuid:
            raise NotCompilable("a GTID has a tag")
        return np.array([*np.frombuffer(bytes.fromhex(uuid.replace("-", "")), np.int64),
                         int(number), 0])  # fmt: skip
    domain, server, sequence = name.split("-")
    return np.array([int(domain), int(server), int(sequence), 0])


def _require_equal_commits(
    source: ScannedCommits, target: ScannedCommits, in_source: Ints, in_target: Ints
) -> None:
    """Refuse transactions of one name with different changes."""
    mine, theirs = _places(source, in_source), _places(target, in_target)
    both = (mine >= 0) & (theirs >= 0)
    if ((mine >= 0) != (theirs >= 0)).any():
        raise NotCompilable("a transaction differs")
    mine, theirs = mine[both], theirs[both]
    one, other = source.columns, target.columns
    starts, ends = _bounds(one, mine), _bounds(other, theirs)
    if ((starts[1] - starts[0]) != (ends[1] - ends[0])).any():
        raise NotCompilable("a transaction differs")
    rows, their_rows = _ranges(*starts), _ranges(*ends)
    differs = np.zeros(len(rows), np.bool_)
    for name in ("keys", "before", "after"):
        differs |= (getattr(one, name)[rows] != getattr(other, name)[their_rows]).any(axis=1)
    if differs.any():
        of_commit = np.repeat(np.arange(len(mine)), starts[1] - starts[0])
        for at in np.unique(of_commit[differs]).tolist():
            # Changes may come in another order.
            if difference(one.commit(int(mine[at])), other.commit(int(theirs[at]))) is not None:
                raise NotCompilable("a transaction differs")


def _places(log: ScannedCommits, numbers: Ints) -> Ints:
    """Return each recorded transaction's place among the judged commits, -1 without changes."""
    judged = np.frombuffer(log.numbers, np.uint64).astype(np.int64)
    at = np.searchsorted(judged, numbers)
    at[at == len(judged)] = 0
    return np.where(judged[at] == numbers, at, -1)


def _bounds(columns: CommitColumns, commits: Ints) -> tuple[Ints, Ints]:
    starts = np.concatenate([[0], columns.ends[:-1]])
    return starts[commits], columns.ends[commits]


def _ranges(starts: Ints, ends: Ints) -> Ints:
    """Return all numbers of all ranges."""
    lengths = ends - starts
    first = np.repeat(starts - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    return first + np.arange(int(lengths.sum()))
