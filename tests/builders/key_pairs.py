"""Pairs of transactions that the rules of keys are judged by; each returns what they conflict by.

The cases named after a server or applier are the reduced forms of faults that were reported there.
"""

from __future__ import annotations

from paraply.vocabulary.log import ABSENT
from tests.builders.key_cases import (
    conflict,
    delete,
    insert,
    keyed,
    may_conflict,
    registry_of,
    update,
)

USERS = (
    "CREATE TABLE users (id int PRIMARY KEY, name varchar(20) COLLATE utf8mb4_general_ci,"
    " UNIQUE uk (name))"
)


EMAILS = "CREATE TABLE t (id int PRIMARY KEY, e int, v int, UNIQUE u (e))"


CHAIN = (
    "CREATE TABLE a (id int PRIMARY KEY)",
    "CREATE TABLE b (id int AUTO_INCREMENT PRIMARY KEY, aid int,"
    " FOREIGN KEY (aid) REFERENCES a (id) ON DELETE {rule})",
    "CREATE TABLE c (id int PRIMARY KEY, bid int,"
    " FOREIGN KEY (bid) REFERENCES b (id) ON DELETE {below})",
)


def both(registry, *pair):
    """Return a transaction with its keys for each: one row change or a tuple of them."""
    return [keyed(registry, *(rows if isinstance(rows, tuple) else (rows,))) for rows in pair]


def family(rule="", parent_key="id int PRIMARY KEY, name varchar(9)"):
    return registry_of(
        f"CREATE TABLE parent ({parent_key})",
        f"CREATE TABLE child (id int PRIMARY KEY, pid int,"
        f" CONSTRAINT fk FOREIGN KEY (pid) REFERENCES parent (id) {rule})",
    )


def chain(rule, below):
    return registry_of(*(sql.format(rule=rule, below=below) for sql in CHAIN))


def mysql_86078():
    """DELETE of unique 'C' and INSERT of unique 'c' under a *_ci collation conflict."""
    return conflict(*both(registry_of(USERS), delete("users", 1, "C"), insert("users", 2, "c")))


def mysql_111027():
    """Two values that agree in the indexed prefix conflict in a multi-column prefix key."""
    registry = registry_of(
        "CREATE TABLE t (id int PRIMARY KEY, a varchar(20) COLLATE utf8mb4_bin, b int,"
        " UNIQUE uk (a(3), b))"
    )
    return conflict(*both(registry, delete("t", 1, "abcX", 7), insert("t", 2, "abcY", 7)))


def mysql_110071():
    """Two children of one parent."""
    return conflict(*both(family(), insert("child", 1, 7), insert("child", 2, 7)))


def dtle_795():
    """A child after its parent."""
    return conflict(*both(family(), insert("parent", 7, "x"), insert("child", 1, 7)))


def dtle_keyless():
    """A keyless table beside a keyed one in the same transactions."""
    registry = registry_of("CREATE TABLE k (id int PRIMARY KEY)", "CREATE TABLE t (a int)")
    return may_conflict(
        *both(registry, (insert("k", 1), insert("t", 5)), (insert("k", 2), delete("t", 5)))
    )


def pxc_3729():
    """A unique value that is set and reset inside one transaction (3, 10, 3)."""
    registry = registry_of("CREATE TABLE t (id int PRIMARY KEY, a int, UNIQUE u (a))")
    moved = (update("t", (1, 3), (1, 10)), update("t", (1, 10), (1, 3)))
    return conflict(*both(registry, moved, insert("t", 2, 10)))


def tiflow_10918():
    """One transaction moves keys (3 to 4, 2 to 3), another uses the key set free first."""
    registry = registry_of("CREATE TABLE t (id int PRIMARY KEY, v int)")
    moves = (update("t", (3, 0), (4, 0)), update("t", (2, 0), (3, 0)))
    return conflict(*both(registry, moves, insert("t", 2, 9)))


def mysql_non_unique_parent():
    """A foreign key to columns that are not unique ties child and parent all the same."""
    registry = registry_of(
        "CREATE TABLE parent (id int PRIMARY KEY, code int, KEY (code))",
        "CREATE TABLE child (id int PRIMARY KEY, code int,"
        " FOREIGN KEY (code) REFERENCES parent (code))",
    )
    return conflict(*both(registry, insert("parent", 1, 5), insert("child", 1, 5)))


def minimal_delete():
    """A DELETE that does not record the unique value it releases, then its reuse."""
    return may_conflict(
        *both(registry_of(EMAILS), delete("t", 1, ABSENT, ABSENT), insert("t", 2, 7, 0))
    )


def restrict_release():
    """The parent goes once its last child has gone."""
    return conflict(*both(family(), delete("child", 1, 7), delete("parent", 7, "x")))


def cascade_hits_child():
    """A cascade may hit a child row whose change does not touch the foreign key."""
    registry = registry_of(
        "CREATE TABLE parent (id int PRIMARY KEY)",
        "CREATE TABLE child (id int AUTO_INCREMENT PRIMARY KEY, pid int, v int,"
        " FOREIGN KEY (pid) REFERENCES parent (id) ON DELETE CASCADE)",
    )
    pair = both(registry, update("child", (1, 7, 0), (1, 7, 1)), delete("parent", 7))
    return conflict(*pair)


def two_level_cascade():
    """A cascade of two levels against a change at the bottom."""
    return may_conflict(*both(chain("CASCADE", "CASCADE"), insert("c", 1, 5), delete("a", 7)))


def cascade_frees_values():
    """A cascaded delete frees a natural key of the child, which another row then takes."""
    registry = registry_of(
        "CREATE TABLE parent (id int PRIMARY KEY)",
        "CREATE TABLE child (code int PRIMARY KEY, pid int,"
        " FOREIGN KEY (pid) REFERENCES parent (id) ON DELETE CASCADE)",
    )
    return may_conflict(*both(registry, delete("parent", 7), insert("child", 5, 8)))
