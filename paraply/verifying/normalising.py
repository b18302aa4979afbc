"""Turns rows into fingerprinted commits, and back."""

from __future__ import annotations

import marshal
import secrets
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial

from paraply.properties.two_logs.commits import ABSENT_ROW, Commit, Key
from paraply.properties.two_logs.fingerprints import fingerprint
from paraply.verifying.mapping import Plan, TablePair
from paraply.verifying.recording import Layout, Recording, Rows
from paraply.verifying.values import CASTS, Cast, plain
from paraply.vocabulary.log import RowImage

Image = tuple[object, ...]
REMEMBERED = 1 << 16
"""Fingerprints kept for rows that change again."""


def new_secret() -> bytes:
    """Return a random hash key."""
    return secrets.token_bytes(16)


@dataclass(slots=True)
class _Projection:
    table: tuple[str, int]
    """Name of the pair, and epoch."""
    columns: tuple[tuple[int, Cast | None], ...]
    key: tuple[int, ...]

    def image(self, row: RowImage) -> Image:
        return tuple(
            [plain(row[at] if cast is None else cast(row[at])) for at, cast in self.columns]
        )


@dataclass(slots=True)
class _Net:
    before: Image | None
    after: Image | None
    seen: set[Image | None] = field(default_factory=set)


class Normaliser:
    """Turns commits into commits of fingerprints."""

    def __init__(self, recording: Recording, plan: Plan, secret: bytes, *, is_target: bool) -> None:
        # A row's next image before is its last one after, and keys recur.
        self._print = lru_cache(maxsize=REMEMBERED)(partial(fingerprint, secret))
        self._projections: dict[int, list[_Projection]] = {}
        for at, layout in enumerate(recording.layouts):
            self._projections[at] = [
                _projection(layout, pair, is_target=is_target)
                for pair in plan.pairs
                if layout.table == (pair.target if is_target else pair.source)
                and layout.epoch < pair.epochs
                and _has_all(layout, pair, is_target=is_target)
            ]

    def commit(self, stored: Rows) -> Commit:
        """Return a transaction's net changes."""
        nets, copies = self._net(stored)
        changes = {}
        rewritten = []
        for name, net in nets.items():
            key = self._print(name)
            if net.before != net.after:
                changes[key] = (self._value(key, net.before), self._value(key, net.after))
            elif net.seen <= {net.before, None}:
                rewritten.append(key)
                value = self._value(key, net.before)
                changes[key] = (value, value)
            else:
                value = self._value(key, net.before)
                changes[key] = (value, value)
        return Commit(
            changes=changes,
            copies={self._print(name): n for name, n in copies.items() if n},
            rewritten=frozenset(rewritten),
        )

    def _value(self, key: Key, image: Image | None) -> int:
        return ABSENT_ROW if image is None else self._print(key, image)

    def _net(
        self, stored: Rows
    ) -> tuple[dict[tuple[object, ...], _Net], dict[tuple[object, ...], int]]:
        nets: dict[tuple[object, ...], _Net] = {}
        copies: dict[tuple[object, ...], int] = {}
        judged = (
            (projection, row, is_after)
            for at, before, after in stored
            for projection in self._projections[at]
            for row, is_after in ((before, False), (after, True))
            if row is not None
        )
        for projection, row, is_after in judged:
            image = projection.image(row)
            name: tuple[object, ...]
            if not projection.key:
                name = (*projection.table, "copies", image)
                copies[name] = copies.get(name, 0) + (1 if is_after else -1)
                continue
            name = (*projection.table, tuple(image[i] for i in projection.key))
            net = nets.get(name)
            if is_after:
                if net is None:
                    net = nets[name] = _Net(None, None)
                net.after = image
            else:
                if net is None:
                    net = nets[name] = _Net(image, None)
                    net.seen.add(image)
                net.after = None
            net.seen.add(net.after if is_after else None)
        return nets, copies

    def rows(self, stored: Rows) -> Iterator[tuple[Key, RowChangeShown]]:
        """Yield net changes with readable rows."""
        nets, copies = self._net(stored)
        for name, net in nets.items():
            table, _, key = name
            yield (
                self._print(name),
                RowChangeShown(str(table), key, net.before, net.after),
            )
        for name, added in copies.items():
            if not added:
                continue
            table, _, _, image = name
            yield (
                self._print(name),
                RowChangeShown(str(table), image, None, (f"{added:+d} copies",), is_whole=True),
            )


@dataclass(frozen=True, slots=True)
class RowChangeShown:
    """A net change; ``key`` may be the whole row."""

    table: str
    key: object
    before: Image | None
    after: Image | None
    is_whole: bool = False


def _has_all(layout: Layout, pair: TablePair, *, is_target: bool) -> bool:
    return all(
        (column.target if is_target else column.source) in layout.columns for column in pair.columns
    )


def _projection(layout: Layout, pair: TablePair, *, is_target: bool) -> _Projection:
    return _Projection(
        table=(pair.name, layout.epoch),
        columns=tuple(
            (
                layout.columns.index(column.target if is_target else column.source),
                CASTS[column.cast] if column.cast else None,
            )
            for column in pair.columns
        ),
        key=pair.key,
    )


class NormalisedLog:
    """Commits with judged rows, in a temporary file.

    ``numbers`` are their recorded numbers, from 1.
    """

    def __init__(self, commits: Iterable[tuple[int, Commit]]) -> None:
        self.numbers = array("Q")
        self.changes = 0
        self.copies_max = 0
        self._sizes = array("Q")
        self._file = tempfile.TemporaryFile(prefix="paraply-verify-")  # noqa: SIM115
        for number, commit in commits:
            if commit.changes or commit.copies:
                self.numbers.append(number)
                self.changes += len(commit.changes) + len(commit.copies)
                self.copies_max += sum(map(abs, commit.copies.values()))
                packed = marshal.dumps(_packed(commit))
                self._sizes.append(len(packed))
                self._file.write(packed)

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Commit]:
        self._file.seek(0)
        for size in self._sizes:
            yield _unpacked(marshal.loads(self._file.read(size)))

    def close(self) -> None:
        """Remove the temporary file."""
        self._file.close()


_Packed = tuple[dict[Key, tuple[int, int]], dict[Key, int], frozenset[Key]]


def _packed(commit: Commit) -> _Packed:
    return (dict(commit.changes), dict(commit.copies), commit.rewritten)


def _unpacked(packed: _Packed) -> Commit:
    return Commit(changes=packed[0], copies=packed[1], rewritten=packed[2])


def shown_value(value: object) -> str:
    """Return a value as reports print it."""
    if value is None:
        return "NULL"
    if isinstance(value, tuple) and len(value) == 2 and value[0] == "decimal":
        return str(value[1])
    return repr(value) if isinstance(value, str | bytes) else str(value)


def first_difference(
    columns: Sequence[str], one: Image | None, other: Image | None
) -> tuple[str, str, str]:
    """Return the first differing column and values."""
    if one is None or other is None:
        return "", "no row" if one is None else "a row", "no row" if other is None else "a row"
    for name, left, right in zip(columns, one, other, strict=False):
        if left != right:
            return name, shown_value(left), shown_value(right)
    return "", "", ""
