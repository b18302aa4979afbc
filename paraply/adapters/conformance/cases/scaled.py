"""Family O: generated logs at other sizes, with situations of several families.

The id lists the parameters: ``O-w8-n100-r17-f2-d2-t1-plain-crash``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import combinations
from pathlib import Path
from random import Random

from paraply.adapters.conformance.cases.case import ONCE, Case, log_of
from paraply.adapters.conformance.source import Change, SourceLog, delete, insert, update
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.input_documents import parse_json

CHOICES: Mapping[str, Sequence[int | str]] = {
    "workers": (2, 4, 8, 64),
    "length": (12, 100, 2_000),
    "rows": (1, 17, 300),
    "files": (1, 2, 6),
    "deadlocks": (0, 1, 2, 6, 11),
    "tables": (1, 40),
    "shape": ("plain", "unique", "parents"),
    "end": ("calm", "crash", "ordered"),
}
ROWS_MAX = 4_000
"""Row changes; more take minutes a run."""
_ID = re.compile(r"O-w(\d+)-n(\d+)-r(\d+)-f(\d+)-d(\d+)-t(\d+)-([a-z]+)-([a-z]+)")
_CANDIDATES = 40
_GAP_CHANCE = 0.05

UNREADABLE_PAIRS = register(
    "P637",
    "the file of covered pairs cannot be read: {reason}",
    "name a file that an earlier --covered wrote, or one that does not exist",
)

Pair = tuple[str, str]
"""As ``name=value``."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The parameters of a generated case.

    Attributes:
        length: transactions.
        rows: row changes of most transactions.
        deadlocks: maximum number of victims.
        tables: tables beside ``d.other``.
        shape: keys of the first table: ``plain``, ``unique`` or ``parents`` (a foreign key).
        end: ``crash`` (one kill), ``ordered`` (commits follow the log) or ``calm``.
    """

    workers: int
    length: int
    rows: int
    files: int
    deadlocks: int
    tables: int
    shape: str
    end: str

    @property
    def id(self) -> str:
        """Return the case id."""
        return (
            f"O-w{self.workers}-n{self.length}-r{self.rows}-f{self.files}-d{self.deadlocks}"
            f"-t{self.tables}-{self.shape}-{self.end}"
        )

    @property
    def pairs(self) -> frozenset[Pair]:
        """Return every pair of settings."""
        settings = sorted(f"{one.name}={getattr(self, one.name)}" for one in fields(self))
        return frozenset(combinations(settings, 2))

    @property
    def is_affordable(self) -> bool:
        """Return whether a run takes seconds."""
        return self.length * self.rows <= ROWS_MAX


DEFAULT = (
    Scale(8, 24, 3, 2, 6, 1, "unique", "crash"),
    Scale(64, 40, 1, 6, 11, 40, "plain", "ordered"),
    Scale(2, 12, 17, 1, 2, 1, "parents", "calm"),
)


def scaled_case(scale: Scale) -> Case:
    """Return the case of the parameters."""
    return Case(
        id=scale.id,
        fact=f"{scale.length:,} transactions of {scale.rows} rows, {scale.workers} workers",
        source="sizes and families crossed",
        decides=ONCE,
        log=partial(scaled_log, scale),
        workers=scale.workers,
        deadlocks=scale.deadlocks,
        crashes=int(scale.end == "crash"),
        commit_order=scale.end == "ordered",
        is_generated=True,
        schedules_max=SCHEDULES_MAX,
    )


SCHEDULES_MAX = 4


def case_of_id(name: str) -> Case | None:
    """Return the case of an id, or None."""
    found = _ID.fullmatch(name)
    if found is None:
        return None
    workers, length, rows, files, deadlocks, tables = map(int, found.groups()[:6])
    shape, end = found.group(7), found.group(8)
    is_possible = 0 not in (workers, length, rows, files, tables)
    if shape not in CHOICES["shape"] or end not in CHOICES["end"] or not is_possible:
        return None
    return scaled_case(Scale(workers, length, rows, files, deadlocks, tables, shape, end))


def all_pairs() -> frozenset[Pair]:
    """Return the pairs of all affordable cases."""
    found: set[Pair] = set()
    for (one, values), (other, others) in combinations(sorted(CHOICES.items()), 2):
        for value in values:
            for second in others:
                sizes = {"length": 12, "rows": 1} | {one: value, other: second}
                if int(sizes["length"]) * int(sizes["rows"]) <= ROWS_MAX:
                    first, last = sorted((f"{one}={value}", f"{other}={second}"))
                    found.add((first, last))
    return frozenset(found)


def read_covered(file: Path | None) -> set[Pair]:
    """Return a file's pairs, if it exists; P637 for other text."""
    if file is None or not file.exists():
        return set()
    try:
        pairs = parse_json(file.read_text())["pairs"]
        return {(str(first), str(second)) for first, second in pairs}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ParaplyError(UNREADABLE_PAIRS, where=str(file), reason=str(error)) from None


def covered_json(covered: Iterable[Pair]) -> str:
    """Return the pairs as file text."""
    return json.dumps({"paraply": "pairs of sizes", "pairs": sorted(covered)}, indent=0) + "\n"


def uncovered_scales(covered: set[Pair], seed: int) -> Iterator[Scale]:
    """Yield scales until ``covered``, which grows, contains all pairs."""
    random = Random(seed)
    missing = set(all_pairs()) - covered
    while missing:
        drawn = [_draw(random, sorted(missing)[0] if not n else ()) for n in range(_CANDIDATES)]
        best = max(
            drawn, key=lambda one: len(one.pairs & missing) / (1 + one.length * one.rows / 500)
        )
        if not best.pairs & missing:
            best = drawn[0]
        covered |= best.pairs
        missing -= best.pairs
        yield best


def _draw(random: Random, wanted: Sequence[str]) -> Scale:
    fixed = dict(one.split("=") for one in wanted)
    while True:
        values = {
            name: type(options[0])(fixed[name]) if name in fixed else random.choice(options)
            for name, options in CHOICES.items()
        }
        scale = Scale(**values)  # type: ignore[arg-type]
        if scale.is_affordable:
            return scale


# The log

_TABLES = {
    "plain": ("CREATE TABLE d.t0 (id INT PRIMARY KEY, v INT)",),
    "unique": ("CREATE TABLE d.t0 (id INT PRIMARY KEY, v INT, UNIQUE KEY uv (v))",),
    "parents": (
        "CREATE TABLE d.p (id INT PRIMARY KEY)",
        "CREATE TABLE d.t0 (id INT PRIMARY KEY, v INT, FOREIGN KEY (v) REFERENCES d.p (id))",
    ),
}


def scaled_log(scale: Scale, seed: int) -> SourceLog:
    """Return a log with hot rows, rotations and gaps."""
    random = Random(seed)
    names = [f"d.t{number}" for number in range(scale.tables)]
    plain = [f"CREATE TABLE {name} (id INT PRIMARY KEY, v INT)" for name in names[1:]]
    log = log_of(*_TABLES[scale.shape], *plain)
    rows: dict[str, dict[int, int | None]] = {name: {} for name in names}
    if scale.shape == "parents":
        log.transaction(*(insert("d.p", number) for number in range(1, 5)))
    rotations = sorted(random.sample(range(1, scale.length), min(scale.files, scale.length) - 1))
    for number in range(scale.length):
        if number in rotations:
            log.rotate()
        if random.random() < _GAP_CHANCE:
            log.skip_numbers(random.randint(1, 3))
        log.transaction(*_changes(scale, random, rows))
    return log


def _changes(scale: Scale, random: Random, rows: dict[str, dict[int, int | None]]) -> list[Change]:
    found: list[Change] = []
    count = random.choice((1, scale.rows, scale.rows))
    ids = random.sample(range(1, 2 * scale.rows + 4), count)
    table = random.choice(list(rows))
    for number in ids:
        if scale.rows > 1 and random.random() < 0.2:
            table = random.choice(list(rows))
        present = rows[table]
        value = _value(scale, random, table, present)
        if number not in present:
            found.append(insert(table, number, value))
        elif random.random() < 0.25:
            found.append(delete(table, id=number))
            del present[number]
            continue
        else:
            found.append(update(table, {"id": number}, v=value))
        present[number] = value
    return found


def _value(
    scale: Scale, random: Random, table: str, present: Mapping[int, int | None]
) -> int | None:
    if table != "d.t0" or scale.shape == "plain":
        return random.randint(1, 1_000_000)
    if scale.shape == "parents":
        return random.choice((1, 2, 3, 4, None))
    taken = set(present.values())
    free = [value for value in range(1, 3 * scale.rows + 8) if value not in taken]
    return random.choice(free[: scale.rows + 4])
