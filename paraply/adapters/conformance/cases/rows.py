"""Families H, I and J: keyless rows, moved rows, changed transactions."""

from __future__ import annotations

from paraply.adapters.conformance.cases.case import (
    AS_LOGGED,
    NO_OVERLAP,
    SAME_TABLES,
    WHOLE,
    Case,
    T,
    among_bystanders,
)
from paraply.adapters.conformance.source import delete, insert, update

U = "CREATE TABLE d.u (id INT PRIMARY KEY, k INT, UNIQUE KEY uk (k))"
_KEYLESS = "CREATE TABLE d.k (a INT, b INT)"
_NULLABLE = "CREATE TABLE d.k (a INT, b INT, UNIQUE KEY ua (a))"
_INSPECTED = "dtle applier_mts.go as restated"


CASES = (
    Case(
        id="H-keyless-01",
        fact="rows of a table without keys keep their order",
        source="MySQL manual, tables without primary key",
        decides=AS_LOGGED,
        log=among_bystanders((_KEYLESS,), (), (insert("d.k", 1, 1),), (delete("d.k", a=1),)),
    ),
    Case(
        id="H-keyless-02",
        fact="so they do in a transaction that writes a table with keys too",
        source=_INSPECTED,
        decides=AS_LOGGED,
        log=among_bystanders(
            (_KEYLESS, T),
            (),
            (insert("d.t", 1, 1), insert("d.k", 1, 1)),
            (insert("d.t", 2, 2), delete("d.k", a=1)),
        ),
    ),
    Case(
        id="H-keyless-03",
        fact="a row whose only UNIQUE key is NULL has no key",
        source=_INSPECTED,
        decides=AS_LOGGED,
        log=among_bystanders((_NULLABLE,), (), (insert("d.k", None, 1),), (delete("d.k", b=1),)),
    ),
    Case(
        id="H-keyless-04",
        fact="two equal rows are two rows",
        source="MySQL manual, tables without primary key",
        decides=SAME_TABLES,
        log=among_bystanders(
            (_KEYLESS,),
            (insert("d.k", 1, 1),),
            (insert("d.k", 1, 1),),
            (delete("d.k", a=1),),
            (insert("d.k", 1, 1),),
        ),
    ),
    Case(
        id="I-move-01",
        fact="a PRIMARY key value that a row left is taken after it only",
        source="tiflow issue 10918",
        decides=AS_LOGGED,
        log=among_bystanders(
            (T,), (insert("d.t", 1, 0),), (update("d.t", {"id": 1}, id=2),), (insert("d.t", 1, 9),)
        ),
    ),
    Case(
        id="I-move-02",
        fact="a row is changed under its new key after it moved there",
        source="tiflow issue 9430",
        decides=AS_LOGGED,
        log=among_bystanders(
            (T,),
            (insert("d.t", 1, 0),),
            (update("d.t", {"id": 1}, id=2),),
            (update("d.t", {"id": 2}, v=5),),
        ),
    ),
    Case(
        id="I-move-03",
        fact="the rows of one transaction keep their order: 3 to 4, 2 to 3, 1 to 2",
        source="tiflow issue 10918",
        decides=AS_LOGGED,
        log=among_bystanders(
            (T,),
            (insert("d.t", 1, 1), insert("d.t", 2, 2), insert("d.t", 3, 3)),
            (
                update("d.t", {"id": 3}, id=4),
                update("d.t", {"id": 2}, id=3),
                update("d.t", {"id": 1}, id=2),
            ),
            (insert("d.t", 1, 7),),
        ),
    ),
    Case(
        id="I-swap-04",
        fact="two rows swap a UNIQUE value through a third",
        source="tiflow issue 12089",
        decides=AS_LOGGED,
        log=among_bystanders(
            (U,),
            (insert("d.u", 1, 1), insert("d.u", 2, 2)),
            (
                update("d.u", {"id": 1}, k=3),
                update("d.u", {"id": 2}, k=1),
                update("d.u", {"id": 1}, k=2),
            ),
            (delete("d.u", id=2),),
            (insert("d.u", 3, 1),),
        ),
    ),
    Case(
        id="I-swap-05",
        fact="the value that a swap passed through is a key of it",
        source="Percona PXC-3729",
        decides=NO_OVERLAP,
        log=among_bystanders(
            (U,),
            (insert("d.u", 1, 1), insert("d.u", 2, 2)),
            (
                update("d.u", {"id": 1}, k=3),
                update("d.u", {"id": 2}, k=1),
                update("d.u", {"id": 1}, k=2),
            ),
            (insert("d.u", 4, 3),),
        ),
    ),
    Case(
        id="I-move-06",
        fact="a row that moves away and back leaves no gap between",
        source="iceberg issue 2918",
        decides=AS_LOGGED,
        log=among_bystanders(
            (T,),
            (insert("d.t", 1, 0),),
            (update("d.t", {"id": 1}, id=2),),
            (update("d.t", {"id": 2}, id=1),),
            (update("d.t", {"id": 1}, v=4),),
        ),
    ),
    Case(
        id="J-whole-01",
        fact="a transaction of many rows commits as one",
        source="otter issue 106",
        decides=WHOLE,
        log=among_bystanders(
            (T,),
            (),
            tuple(insert("d.t", number, number) for number in range(1, 9)),
            tuple(update("d.t", {"id": number}, v=0) for number in range(1, 9)),
        ),
    ),
    Case(
        id="J-compact-02",
        fact="DELETE and INSERT of one key in one transaction is a replaced row",
        source="tiflow PR 3218",
        decides=SAME_TABLES,
        log=among_bystanders(
            (T,),
            (insert("d.t", 1, 1),),
            (delete("d.t", id=1), insert("d.t", 1, 2)),
            (update("d.t", {"id": 1}, v=3),),
        ),
    ),
    Case(
        id="J-compact-03",
        fact="a row that comes and goes in one transaction leaves nothing, and commits",
        source="otter issue 507",
        decides=SAME_TABLES,
        log=among_bystanders(
            (T,),
            (),
            (insert("d.t", 1, 1), update("d.t", {"id": 1}, v=2), delete("d.t", id=1)),
            (insert("d.t", 1, 3),),
        ),
    ),
    Case(
        id="J-batch-04",
        fact="a row that three transactions write goes through all three states",
        source="kafka-connect-jdbc issue 575",
        decides=AS_LOGGED,
        log=among_bystanders(
            (T,),
            (),
            (insert("d.t", 1, 1),),
            (update("d.t", {"id": 1}, v=2),),
            (update("d.t", {"id": 1}, v=3),),
            (delete("d.t", id=1),),
        ),
    ),
    Case(
        id="J-split-05",
        fact="the first row of a big transaction conflicts as its last does",
        source="tiflow issue 10918",
        decides=NO_OVERLAP,
        log=among_bystanders(
            (T,),
            (insert("d.t", 1, 1), insert("d.t", 20, 1)),
            (
                update("d.t", {"id": 1}, v=2),
                *(insert("d.t", number, 0) for number in range(2, 8)),
                update("d.t", {"id": 20}, v=2),
            ),
            (update("d.t", {"id": 20}, v=3),),
            (update("d.t", {"id": 1}, v=3),),
        ),
    ),
)
