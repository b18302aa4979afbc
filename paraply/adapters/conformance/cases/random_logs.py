"""Random logs for each family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from paraply.adapters.conformance.cases.case import (
    AS_LOGGED,
    ENDS,
    NO_OVERLAP,
    ONCE,
    SAME_TABLES,
    Case,
    bystanders,
    log_of,
)
from paraply.adapters.conformance.source import Change, SourceLog, delete, insert, update
from paraply.vocabulary.errors import ParaplyError

TRANSACTIONS = 12
_ROWS = 4
_VALUES = 4

_PLAIN = ("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)",)
_UNIQUE = ("CREATE TABLE d.t (id INT PRIMARY KEY, v INT, UNIQUE KEY uv (v))",)
_KEYLESS = ("CREATE TABLE d.t (id INT, v INT)",)
_FAMILY = (
    "CREATE TABLE d.p (id INT PRIMARY KEY)",
    "CREATE TABLE d.t (id INT PRIMARY KEY, v INT, FOREIGN KEY (v) REFERENCES d.p (id))",
)
_CASCADING = (
    "CREATE TABLE d.p (id INT PRIMARY KEY)",
    "CREATE TABLE d.t (id INT PRIMARY KEY, v INT, "
    "FOREIGN KEY (v) REFERENCES d.p (id) ON DELETE CASCADE)",
)
_NAMES = (
    "CREATE TABLE d.t (id VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL, "
    "v INT, PRIMARY KEY (id))",
)
_SPELLINGS: Sequence[object] = ("a", "A", "á", "b", "B", "b ")


def random_log(
    seed: int,
    tables: tuple[str, ...],
    *,
    rotations: int = 0,
    gaps: bool = False,
    schema_changes: int = 0,
    ids: Sequence[object] = range(1, _ROWS + 1),
    changes_max: int = 2,
) -> SourceLog:
    """Return the seed's log of random transactions."""
    random = Random(seed)
    log = log_of(*tables)
    has_parents = any(" d.p " in table for table in tables)
    rotations_left, alters_left = rotations, schema_changes
    bystanders_done = 0
    while len(log.transactions) < TRANSACTIONS:
        fate = random.random()
        if rotations_left and fate < 0.12:
            rotations_left -= 1
            log.rotate()
        elif alters_left and fate < 0.25:
            alters_left -= 1
            log.ddl(f"CREATE TABLE d.new{alters_left} (id INT PRIMARY KEY)")
        elif gaps and fate < 0.4:
            log.skip_numbers(random.randint(1, 3))
        elif fate > 0.75:
            bystanders_done += 1
            bystanders(log, bystanders_done)
        else:
            _try_one(log, random, ids, random.randint(1, changes_max), has_parents=has_parents)
    return log


def _try_one(
    log: SourceLog, random: Random, ids: Sequence[object], count: int, *, has_parents: bool
) -> None:
    changes = [_draw(log, random, ids, has_parents=has_parents) for _ in range(count)]
    try:
        log.transaction(*changes)
    except ParaplyError:
        log.forget_open_transaction()


def _draw(log: SourceLog, random: Random, ids: Sequence[object], *, has_parents: bool) -> Change:
    contents = log.database.contents()
    if has_parents and random.random() < 0.35:
        parents = [image[0] for image in contents["d.p"]]
        number = random.choice(ids)
        return delete("d.p", id=number) if number in parents else insert("d.p", number)
    present = [image[0] for image in contents["d.t"]]
    number = random.choice(ids)
    value = random.choice([*range(1, _VALUES + 1), None])
    if number not in present:
        return insert("d.t", number, value)
    if random.random() < 0.3:
        return delete("d.t", id=number)
    if random.random() < 0.2:
        return update("d.t", {"id": number}, id=random.choice(ids))
    return update("d.t", {"id": number}, v=value)


def _case(
    family: str,
    fact: str,
    decides: str,
    log: Callable[[int], SourceLog],
    *,
    crashes: int = 0,
    commit_order: bool = False,
) -> Case:
    return Case(
        id=f"{family}-random-01",
        fact=fact,
        source="random workloads of the family",
        decides=decides,
        log=log,
        crashes=crashes,
        commit_order=commit_order,
        workers=3 if commit_order else 4,
        is_generated=True,
    )


CASES = (
    _case(
        "A",
        "random transactions over several files",
        NO_OVERLAP,
        lambda seed: random_log(seed, _PLAIN, rotations=3),
    ),
    _case(
        "B",
        "random transactions over few rows",
        NO_OVERLAP,
        lambda seed: random_log(seed, _PLAIN, changes_max=1),
    ),
    _case(
        "C",
        "random gaps between sequence numbers",
        ENDS,
        lambda seed: random_log(seed, _PLAIN, gaps=True, rotations=1),
    ),
    _case(
        "D",
        "random spellings of few names",
        AS_LOGGED,
        lambda seed: random_log(seed, _NAMES, ids=_SPELLINGS),
    ),
    _case("E", "random values of a UNIQUE key", AS_LOGGED, lambda seed: random_log(seed, _UNIQUE)),
    _case("F", "random parents and children", AS_LOGGED, lambda seed: random_log(seed, _FAMILY)),
    _case("G", "random cascades", SAME_TABLES, lambda seed: random_log(seed, _CASCADING)),
    _case(
        "H",
        "random rows of a table without keys",
        AS_LOGGED,
        lambda seed: random_log(seed, _KEYLESS),
    ),
    _case(
        "I",
        "random moves of rows",
        AS_LOGGED,
        lambda seed: random_log(seed, _UNIQUE, changes_max=3),
    ),
    _case(
        "J",
        "random transactions of several rows",
        SAME_TABLES,
        lambda seed: random_log(seed, _PLAIN, changes_max=5),
    ),
    _case(
        "K",
        "random transactions among schema changes",
        NO_OVERLAP,
        lambda seed: random_log(seed, _PLAIN, schema_changes=3),
    ),
    _case(
        "L",
        "random transactions in commit order",
        ENDS,
        lambda seed: random_log(seed, _UNIQUE, rotations=1),
        commit_order=True,
    ),
    _case(
        "M",
        "random transactions and a crash",
        ONCE,
        lambda seed: random_log(seed, _UNIQUE, rotations=1),
        crashes=1,
    ),
)
