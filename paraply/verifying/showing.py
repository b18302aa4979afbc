"""Turns numbers and keys into readable transactions and rows."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from paraply.properties.two_logs.commits import Commit, Key
from paraply.properties.two_logs.identity import Difference, IdentityJudgement
from paraply.properties.two_logs.judgement import Judgement, Miss, Witness
from paraply.verifying.mapping import Plan
from paraply.verifying.normalising import (
    Normaliser,
    RowChangeShown,
    first_difference,
    shown_value,
)
from paraply.verifying.recording import Recording, Rows
from paraply.verifying.result import NamedFinding, RowFinding, TransactionName, WitnessFinding

ROWS_SHOWN = 50
VERSIONS_KEPT = 64


class JudgedCommits(Protocol):
    """The commits with judged rows."""

    @property
    def numbers(self) -> array[int]:
        """Return their recorded numbers, from 1."""
        ...

    @property
    def changes(self) -> int:
        """Return the number of net changes."""
        ...

    @property
    def copies_max(self) -> int:
        """Return a bound on copies of a row without a key."""
        ...

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Commit]: ...


@dataclass(slots=True)
class Side:
    """A recorded log, judged after ``skipped`` commits.

    Judged commits count from 1.
    """

    recording: Recording
    normaliser: Normaliser | None
    """None if no rows are to be shown."""
    log: JudgedCommits
    skipped: int = 0

    @property
    def judged(self) -> int:
        """Return the number of judged commits."""
        return len(self.log) - self.skipped

    def commits(self) -> Iterator[Commit]:
        """Yield the judged commits."""
        return islice(iter(self.log), self.skipped, None)

    def rows(self, stored: Rows) -> Iterator[tuple[Key, RowChangeShown]]:
        """Yield the net changes of a recorded transaction, with readable rows."""
        assert self.normaliser is not None
        return self.normaliser.rows(stored)

    def name(self, number: int) -> TransactionName:
        """Return a judged commit's name."""
        return self.recorded(self.number(number))

    def number(self, judged: int) -> int:
        """Return a judged commit's number among the recorded ones."""
        return self.log.numbers[judged - 1 + self.skipped]

    def recorded(self, number: int) -> TransactionName:
        """Return a recorded commit's name, from 1."""
        header = self.recording.header(number)
        return TransactionName(name=header.name, place=header.place)

    def times_us(self) -> array[int]:
        """Return the times of judged commits."""
        numbers = self.log.numbers[self.skipped :]
        times = self.recording.times_us
        return array("q", [times[number - 1] for number in numbers])


@dataclass(slots=True)
class _Version:
    number: int
    change: RowChangeShown


class RowsShown:
    """Finds rows of keys by another pass."""

    def __init__(self, source: Side, target: Side, plan: Plan, keys: Iterable[Key]) -> None:
        self._columns = {
            pair.name: [column.source for column in pair.columns] for pair in plan.pairs
        }
        self._sides = (source, target)
        wanted = frozenset(keys)
        self._versions = tuple(_versions(side, wanted) if wanted else {} for side in self._sides)

    def row(self, key: Key, *, why: str = "", until: int | None = None) -> RowFinding:
        """Return a row's last versions and difference, to target commit ``until``."""
        mine = self._versions[0].get(key, [])
        theirs = self._versions[1].get(key, [])
        if until is not None:
            theirs = [version for version in theirs if version.number <= until] or theirs[:1]
        last = [versions[-1] if versions else None for versions in (mine, theirs)]
        some = next((version.change for version in last if version is not None), None)
        if some is None:
            return RowFinding(table="", key="(row not found again)", why=why)
        images = [version.change.after if version else None for version in last]
        columns = self._columns.get(some.table, [])
        if some.is_whole:
            column = ""
            one, other = (str(image[0]) if image else "+0 copies" for image in images)
        elif None in last:
            touched = "unchanged by this log"
            shown = [_image(version.change.after) if version else touched for version in last]
            column, one, other = "", shown[0], shown[1]
        else:
            column, one, other = first_difference(columns, images[0], images[1])
        names = [
            side.name(version.number) if version else None
            for side, version in zip(self._sides, last, strict=True)
        ]
        key_text = some.key if isinstance(some.key, tuple) else (some.key,)
        return RowFinding(
            table=some.table,
            key=", ".join(map(shown_value, key_text)),
            column=column,
            source_value=one,
            target_value=other,
            source=names[0],
            target=names[1],
            why=why,
        )

    def columns_of(self, table: str) -> list[str]:
        """Return a table's compared columns."""
        return self._columns.get(table, [])


def _versions(side: Side, wanted: frozenset[Key]) -> dict[Key, list[_Version]]:
    found: dict[Key, list[_Version]] = {}
    judged = 0
    for stored in side.recording.all_rows():
        rows = list(side.rows(stored))
        judged += bool(rows)
        number = judged - side.skipped
        for key, change in rows:
            if key in wanted and number > 0:
                kept = found.setdefault(key, [])
                if len(kept) >= VERSIONS_KEPT:
                    del kept[VERSIONS_KEPT // 2]
                kept.append(_Version(number, change))
    return found


def _image(image: tuple[object, ...] | None) -> str:
    return "no row" if image is None else "(" + ", ".join(map(shown_value, image)) + ")"


def keys_to_show(
    judgement: Judgement, blamed: Iterable[Key], names: IdentityJudgement | None
) -> set[Key]:
    """Return the keys to report."""
    keys = set(list(blamed)[:ROWS_SHOWN])
    keys |= set(list(judgement.differing)[:ROWS_SHOWN])
    keys |= set(list(judgement.found)[:ROWS_SHOWN])
    keys |= set(list(judgement.conceded)[:ROWS_SHOWN])
    for witness in judgement.witnesses:
        keys |= {key for key in (witness.key, witness.other) if key is not None}
    if names is not None:
        keys |= {changed.key for changed in names.changed[:ROWS_SHOWN]}
        keys |= {inversion.key for inversion in names.inversions[:ROWS_SHOWN]}
    return keys


def witness_shown(witness: Witness, source: Side, target: Side, rows: RowsShown) -> WitnessFinding:
    """Return a readable witness."""
    at = target.name(witness.target) if witness.target else None
    from_ = source.name(witness.source) if witness.source else None
    found = tuple(
        rows.row(key, until=witness.target or None)
        for key in (witness.key, witness.other)
        if key is not None
    )
    after = f"After target transaction {at.name}" if at else "At the end of the target's log"
    text = {
        Miss.NO_PREFIX: f"{after}, the state is equal to no state of the source.",
        Miss.WENT_BACK: f"{after}, the state is an earlier one than before: that after source "
        f"transaction {from_.name if from_ else '(none)'}.",
        Miss.SKIPPED: f"{after}, the state skips states of the source: it is that after "
        f"{from_.name if from_ else 'the last source transaction'}.",
        Miss.TORN: _torn_text(after, from_, found, witness),
        Miss.KEY_WENT_BACK: f"{after}, row {_row(found)} has an earlier version than before.",
        Miss.UNKNOWN_VERSION: f"{after}, row {_row(found)} has a value that the source never "
        "gave it.",
        Miss.LAST_STATE: f"{after}, which is its last, rows differ from every state of the source"
        + (f", among them {_row(found)}." if found else "."),
    }[witness.why]
    return WitnessFinding(
        level=witness.missed.word,
        text=text,
        target=at,
        target_number=witness.target,
        source=from_,
        rows=found,
    )


def _torn_text(
    after: str, source: TransactionName | None, rows: tuple[RowFinding, ...], witness: Witness
) -> str:
    name = source.name if source else "some source transaction"
    if witness.key is not None and witness.other is not None:
        return (
            f"{after}, source transaction {name} or one that depends on it shows on row "
            f"{_row(rows[:1])}, but {name} does not show on row {_row(rows[1:])}."
        )
    return f"{after}, no set of whole source transactions explains row {_row(rows)}."


def _row(rows: tuple[RowFinding, ...]) -> str:
    return f"{rows[0].table} ({rows[0].key})" if rows else "(unknown)"


CHANGE_TEXTS = {
    Difference.OTHER_ROWS: "it wrote another row at the target",
    Difference.FOUND_OTHER: "it wrote the same rows, but found another row at the target",
    Difference.FEWER_ROWS: "it wrote fewer rows at the target",
    Difference.MORE_ROWS: "it wrote more rows at the target",
}


def named_findings(
    names: IdentityJudgement, source: Side, target: Side, rows: RowsShown
) -> list[NamedFinding]:
    """Return differences of equal names, numbered as recorded."""
    found = []
    for number in names.missing[:ROWS_SHOWN]:
        name = source.recorded(number)
        text = f"{name.name} is missing, though the target has later transactions"
        found.append(NamedFinding(rule="missing", text=text, source=name))
    for number in names.errant[:ROWS_SHOWN]:
        name = target.recorded(number)
        text = f"{name.name} is not in the source's log"
        found.append(NamedFinding(rule="errant", text=text, target=name))
    for number in names.twice[:ROWS_SHOWN]:
        name = target.recorded(number)
        text = f"{name.name} was applied again"
        found.append(NamedFinding(rule="twice", text=text, target=name))
    for changed in names.changed[:ROWS_SHOWN]:
        mine, theirs = source.recorded(changed.source), target.recorded(changed.target)
        found.append(
            NamedFinding(
                rule="changed",
                text=f"{mine.name} differs: {CHANGE_TEXTS[changed.how]}",
                source=mine,
                target=theirs,
                row=_changed_row(changed.key, changed.source, changed.target, source, target, rows),
            )
        )
    for inversion in names.inversions[:ROWS_SHOWN]:
        first, second = source.recorded(inversion.earlier), source.recorded(inversion.later)
        row = rows.row(inversion.key)
        found.append(
            NamedFinding(
                rule="inverted",
                text=f"{second.name} came before {first.name}, and both change row "
                f"{row.table} ({row.key})",
                source=first,
                target=second,
            )
        )
    return found


def copy_finding(name: TransactionName) -> NamedFinding:
    """Return a transaction of the initial copy."""
    text = f"{name.name} is of the initial copy"
    return NamedFinding(rule="initial-copy", text=text, target=name)


def _changed_row(
    key: Key, number: int, at: int, source: Side, target: Side, rows: RowsShown
) -> RowFinding:
    changes = [
        dict(side.rows(side.recording.rows_of(n))).get(key)
        for side, n in ((source, number), (target, at))
    ]
    whole = rows.row(key)
    mine, theirs = changes
    if mine is None or theirs is None:
        shown = ["not written" if each is None else _image(each.after) for each in changes]
        column = ""
    else:
        columns = rows.columns_of(mine.table)
        column, *shown = first_difference(columns, mine.after, theirs.after)
        if mine.after == theirs.after:
            column, *shown = first_difference(columns, mine.before, theirs.before)
    return RowFinding(
        table=whole.table,
        key=whole.key,
        column=column,
        source_value=shown[0],
        target_value=shown[1],
        source=source.recorded(number),
        target=target.recorded(at),
    )


def blame_why(key: Key, first: Judgement) -> str:
    """Return why a row is excepted."""
    if key in first.found:
        return "changed outside of the target's log"
    if key in first.conceded:
        return "missed a change for a whole window"
    if key in first.differing:
        return "late or lost" if first.differing[key] else "a value that the source never gave it"
    return "differed for a time"
