"""Families D and E: equal keys."""

from __future__ import annotations

from collections.abc import Callable

from paraply.adapters.conformance.cases.case import (
    AS_LOGGED,
    GOES_ON,
    NO_OVERLAP,
    OVERLAP,
    SAME_TABLES,
    Case,
    among_bystanders,
    log_of,
)
from paraply.adapters.conformance.source import Change, SourceLog, delete, insert, update

_WRITESET = frozenset({"writeset"})


def _names(collation: str, kind: str = "VARCHAR(20)", key: str = "PRIMARY KEY (name)") -> str:
    charset = f" CHARACTER SET {collation.partition('_')[0]} COLLATE {collation}"
    return f"CREATE TABLE d.n (name {kind}{charset if collation else ''} NOT NULL, v INT, {key})"


def _pair(
    table: str, setup: tuple[Change, ...], *transactions: tuple[Change, ...], target: str = ""
) -> Callable[[int], SourceLog]:
    return among_bystanders((table,), setup, *transactions, target=(target,) if target else ())


def _replace(table: str, *, first: str, then: str, target: str = "") -> Callable[[int], SourceLog]:
    return _pair(
        table,
        (insert("d.n", first, 1),),
        (delete("d.n", name=first),),
        (insert("d.n", then, 2),),
        target=target,
    )


def _both(table: str, one: object, other: object) -> Callable[[int], SourceLog]:
    def build(_: int) -> SourceLog:
        log = log_of(table)
        log.transaction(insert("d.n", one, 1))
        log.transaction(insert("d.n", other, 2))
        return log

    return build


_U = "CREATE TABLE d.u (id INT PRIMARY KEY, k INT, v INT, UNIQUE KEY uk (k))"
_TWO = "CREATE TABLE d.u (id INT PRIMARY KEY, k INT, v INT, UNIQUE KEY a (k), UNIQUE KEY b (v))"
_PREFIX = (
    "CREATE TABLE d.u (id INT PRIMARY KEY, k VARCHAR(20) CHARACTER SET utf8mb4 "
    "COLLATE utf8mb4_bin, v INT, UNIQUE KEY uk (k(3)))"
)
_TWO_PREFIXES = (
    "CREATE TABLE d.u (id INT PRIMARY KEY, k VARCHAR(20) CHARACTER SET utf8mb4 COLLATE "
    "utf8mb4_bin, v VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, "
    "UNIQUE KEY uk (k(2), v(2)))"
)
_COMPOSITE = "CREATE TABLE d.u (id INT, k INT, v INT, PRIMARY KEY (id, k))"
_LOWER = "CREATE TABLE d.n (name VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, v INT, PRIMARY KEY (name))"  # noqa: E501
_MYSQL_UNIQUE = "MySQL bug 86078"

CASES = (
    Case(
        id="D-collation-01",
        fact="'a' and 'A' are one key under a case-insensitive collation",
        source="dtle applier_mts.go as restated; tiflow issue 9489",
        decides=AS_LOGGED,
        log=_replace(_names("utf8mb4_general_ci"), first="a", then="A"),
    ),
    Case(
        id="D-collation-02",
        fact="so they are in a UNIQUE key beside a numeric PRIMARY key",
        source="tiflow issue 9489",
        decides=AS_LOGGED,
        log=_pair(
            "CREATE TABLE d.n (id INT PRIMARY KEY, name VARCHAR(20) CHARACTER SET utf8mb4 "
            "COLLATE utf8mb4_unicode_ci, UNIQUE KEY uk (name))",
            (insert("d.n", 1, "Straw"),),
            (delete("d.n", id=1),),
            (insert("d.n", 2, "sTRAW"),),
        ),
    ),
    Case(
        id="D-collation-03",
        fact="'a' and 'a ' are one key under a PAD SPACE collation",
        source="MySQL manual, PAD SPACE",
        decides=AS_LOGGED,
        log=_replace(_names("utf8mb4_general_ci"), first="a", then="a "),
    ),
    Case(
        id="D-collation-04",
        fact="'e' and 'é' are one key under an accent-insensitive collation",
        source="MySQL manual, utf8mb4_0900_ai_ci",
        decides=AS_LOGGED,
        log=_replace(_names("utf8mb4_0900_ai_ci"), first="resume", then="résumé"),
    ),
    Case(
        id="D-collation-05",
        fact="what the target's collation makes one key conflicts, whatever the source thinks",
        source="Vitess PR 19535, thread of 2026-07-29; tidb-binlog issue 1046",
        decides=AS_LOGGED,
        log=_replace(_LOWER, first="a", then="A", target=_names("utf8mb4_general_ci")),
        needs=_WRITESET,
    ),
    Case(
        id="D-collation-06",
        fact="'a' and 'a ' are two keys under a NO PAD collation",
        source="MySQL manual, utf8mb4_0900_ai_ci",
        decides=OVERLAP,
        log=_both(_names("utf8mb4_0900_ai_ci"), "a", "a "),
        must_overlap=True,
    ),
    Case(
        id="D-collation-07",
        fact="'a' and 'A' are two keys under a binary collation",
        source="MySQL manual, utf8mb4_bin",
        decides=OVERLAP,
        log=_both(_LOWER, "a", "A"),
        must_overlap=True,
    ),
    Case(
        id="D-collation-08",
        fact="trailing spaces of VARBINARY count",
        source="MySQL manual, BINARY and VARBINARY",
        decides=GOES_ON,
        log=_pair(
            "CREATE TABLE d.n (name VARBINARY(20) NOT NULL, v INT, PRIMARY KEY (name))",
            (insert("d.n", b"a", 1),),
            (delete("d.n", name=b"a"),),
            (insert("d.n", b"a ", 2),),
        ),
    ),
    Case(
        id="D-collation-09",
        fact="final and medial sigma are one letter, whatever lower-casing makes of them",
        source="Unicode Collation Algorithm; utf8mb4_unicode_ci",
        decides=AS_LOGGED,
        log=_replace(
            _names("utf8mb4_unicode_ci"),
            first="\N{GREEK SMALL LETTER FINAL SIGMA}a",
            then="\N{GREEK SMALL LETTER SIGMA}a",
        ),
    ),
    Case(
        id="D-collation-10",
        fact="a letter that expands to two equals the two",
        source="Unicode Collation Algorithm, expansions; utf8mb4_unicode_ci",
        decides=AS_LOGGED,
        log=_replace(
            _names("utf8mb4_unicode_ci"),
            first="Stra\N{LATIN SMALL LETTER SHARP S}e",
            then="STRASSE",
        ),
    ),
    Case(
        id="E-unique-01",
        fact="a value of a UNIQUE key that a DELETE sets free is taken after it only",
        source=_MYSQL_UNIQUE,
        decides=AS_LOGGED,
        log=_pair(_U, (insert("d.u", 1, 5, 0),), (delete("d.u", id=1),), (insert("d.u", 2, 5, 0),)),
    ),
    Case(
        id="E-unique-02",
        fact="a value that an UPDATE sets free is taken after it only",
        source=_MYSQL_UNIQUE,
        decides=AS_LOGGED,
        log=_pair(
            _U,
            (insert("d.u", 1, 5, 0),),
            (update("d.u", {"id": 1}, k=6),),
            (insert("d.u", 2, 5, 0),),
        ),
    ),
    Case(
        id="E-unique-03",
        fact="a value held only in the middle of a transaction is a key of it",
        source="Percona PXC-3729",
        decides=AS_LOGGED,
        log=_pair(
            _U,
            (insert("d.u", 1, 3, 0),),
            (update("d.u", {"id": 1}, k=10), update("d.u", {"id": 1}, k=4)),
            (insert("d.u", 2, 10, 0),),
        ),
    ),
    Case(
        id="E-unique-04",
        fact="two values that agree in the indexed prefix are one key",
        source="MySQL bug 111027",
        decides=AS_LOGGED,
        log=_pair(
            _PREFIX,
            (insert("d.u", 1, "abcX", 0),),
            (delete("d.u", id=1),),
            (insert("d.u", 2, "abcY", 0),),
        ),
    ),
    Case(
        id="E-unique-05",
        fact="so they are in a key of several prefixes",
        source="MySQL bug 111027",
        decides=AS_LOGGED,
        log=_pair(
            _TWO_PREFIXES,
            (insert("d.u", 1, "abX", "cdX"),),
            (delete("d.u", id=1),),
            (insert("d.u", 2, "abY", "cdY"),),
        ),
    ),
    Case(
        id="E-unique-06",
        fact="NULL in a UNIQUE key collides with nothing",
        source="SQL:2016, unique predicate",
        decides=OVERLAP,
        log=lambda _: _alone(_U, (insert("d.u", 1, None, 0),), (insert("d.u", 2, None, 0),)),
        must_overlap=True,
    ),
    Case(
        id="E-unique-07",
        fact="the second UNIQUE key counts as the first does",
        source="tiflow issue 8552",
        decides=AS_LOGGED,
        log=_pair(
            _TWO,
            (insert("d.u", 1, 1, 7),),
            (update("d.u", {"id": 1}, v=8),),
            (insert("d.u", 2, 2, 7),),
        ),
    ),
    Case(
        id="E-unique-08",
        fact="a PRIMARY key of two columns is one key, not two",
        source="tiflow issue 2035",
        decides=OVERLAP,
        log=lambda _: _alone(_COMPOSITE, (insert("d.u", 1, 2, 0),), (insert("d.u", 1, 3, 0),)),
        must_overlap=True,
    ),
    Case(
        id="E-unique-09",
        fact="a row that moves from one UNIQUE value to another meets writers of both",
        source="MariaDB MDEV-8302",
        decides=NO_OVERLAP,
        log=_pair(
            _U,
            (insert("d.u", 1, 1, 0), insert("d.u", 2, 2, 0)),
            (update("d.u", {"id": 2}, k=3),),
            (update("d.u", {"id": 1}, k=2),),
            (insert("d.u", 3, 1, 0),),
        ),
    ),
    Case(
        id="E-unique-10",
        fact="a chain of rows handing one UNIQUE value on ends as at the source",
        source="tiflow issue 12089",
        decides=SAME_TABLES,
        log=_pair(
            _U,
            (insert("d.u", 1, 7, 0),),
            (delete("d.u", id=1),),
            (insert("d.u", 2, 7, 0),),
            (delete("d.u", id=2),),
            (insert("d.u", 3, 7, 0),),
        ),
    ),
)


def _alone(table: str, *transactions: tuple[Change, ...]) -> SourceLog:
    log = log_of(table)
    for changes in transactions:
        log.transaction(*changes)
    return log
