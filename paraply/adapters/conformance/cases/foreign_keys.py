"""Families F and G: foreign keys and cascades."""

from __future__ import annotations

from paraply.adapters.conformance.cases.case import (
    AS_LOGGED,
    ENDS,
    OVERLAP,
    SAME_TABLES,
    Case,
    among_bystanders,
    log_of,
)
from paraply.adapters.conformance.source import SourceLog, delete, insert, update

P = "CREATE TABLE d.p (id INT PRIMARY KEY, code INT, UNIQUE KEY uc (code))"


def _child(reference: str = "(p) REFERENCES d.p (id)", more: str = "") -> str:
    return f"CREATE TABLE d.c (id INT PRIMARY KEY, p INT, FOREIGN KEY {reference} {more})"


def _siblings(_: int) -> SourceLog:
    log = log_of(P, _child())
    log.transaction(insert("d.p", 1, 1))
    log.drain()
    log.transaction(insert("d.c", 1, 1))
    log.transaction(insert("d.c", 2, 1))
    return log


def _parents(_: int) -> SourceLog:
    log = log_of(P, _child())
    log.transaction(insert("d.p", 1, 1), insert("d.p", 2, 2))
    log.drain()
    log.transaction(update("d.p", {"id": 1}, code=7))
    log.transaction(update("d.p", {"id": 2}, code=8))
    return log


def _new_parents(_: int) -> SourceLog:
    log = log_of(P, _CASCADE)
    log.transaction(insert("d.p", 1, 1))
    log.transaction(insert("d.p", 2, 2))
    return log


_SELF = "CREATE TABLE d.s (id INT PRIMARY KEY, up INT, FOREIGN KEY (up) REFERENCES d.s (id))"
_GRANDCHILD = (
    "CREATE TABLE d.g (id INT PRIMARY KEY, c INT, "
    "FOREIGN KEY (c) REFERENCES d.c (id) ON DELETE CASCADE)"
)
_CASCADE = _child(more="ON DELETE CASCADE ON UPDATE CASCADE")
_SET_NULL = _child(more="ON DELETE SET NULL")
_DTLE = "dtle issue 795"
_TIFLOW = "tiflow issue 12350"

CASES = (
    Case(
        id="F-order-09",
        fact="rows of one transaction keep the order of the statement across tables",
        source="tiflow issue 9430",
        decides=AS_LOGGED,
        log=among_bystanders(
            (P, _child()),
            (insert("d.p", 1, 1), insert("d.c", 1, 1)),
            (
                delete("d.c", id=1),
                delete("d.p", id=1),
                insert("d.p", 2, 2),
                insert("d.c", 2, 2),
            ),
        ),
    ),
    Case(
        id="F-parent-01",
        fact="a child is inserted after its parent",
        source=_DTLE,
        decides=AS_LOGGED,
        log=among_bystanders((P, _child()), (), (insert("d.p", 1, 1),), (insert("d.c", 1, 1),)),
    ),
    Case(
        id="F-parent-02",
        fact="a parent is deleted after its last child",
        source=_TIFLOW,
        decides=AS_LOGGED,
        log=among_bystanders(
            (P, _child()),
            (insert("d.p", 1, 1), insert("d.c", 1, 1)),
            (delete("d.c", id=1),),
            (delete("d.p", id=1),),
        ),
    ),
    Case(
        id="F-parent-03",
        fact="a child moves to a parent after that parent is there",
        source=_DTLE,
        decides=AS_LOGGED,
        log=among_bystanders(
            (P, _child()),
            (insert("d.p", 1, 1), insert("d.c", 1, 1)),
            (insert("d.p", 2, 2),),
            (update("d.c", {"id": 1}, p=2),),
            (delete("d.p", id=1),),
        ),
    ),
    Case(
        id="F-parent-04",
        fact="a foreign key may refer to a UNIQUE key that is not PRIMARY",
        source="MySQL manual, foreign key constraints",
        decides=AS_LOGGED,
        log=among_bystanders(
            (P, _child("(p) REFERENCES d.p (code)")),
            (),
            (insert("d.p", 1, 70),),
            (insert("d.c", 1, 70),),
            (update("d.p", {"id": 1}, id=2),),
        ),
    ),
    Case(
        id="F-parent-05",
        fact="a table may refer to itself",
        source="MySQL manual, foreign key constraints",
        decides=AS_LOGGED,
        log=among_bystanders(
            (_SELF,),
            (),
            (insert("d.s", 1, None),),
            (insert("d.s", 2, 1),),
            (insert("d.s", 3, 2),),
            (delete("d.s", id=3),),
        ),
    ),
    Case(
        id="F-parent-06",
        fact="a parent that comes back may have children again",
        source="mysql-wsrep issue 335",
        decides=AS_LOGGED,
        log=among_bystanders(
            (P, _child()),
            (insert("d.p", 1, 1),),
            (delete("d.p", id=1),),
            (insert("d.p", 1, 9),),
            (insert("d.c", 1, 1),),
        ),
    ),
    Case(
        id="F-siblings-07",
        fact="two children of one parent need not wait for each other",
        source="MySQL bug 110071",
        decides=OVERLAP,
        log=_siblings,
        must_overlap=True,
    ),
    Case(
        id="F-parents-10",
        fact="two parents whose foreign key has no action change side by side",
        source="MySQL manual, foreign key constraints",
        decides=OVERLAP,
        log=_parents,
        must_overlap=True,
    ),
    Case(
        id="F-parents-11",
        fact="an insert starts no cascade, so that two new parents need not wait for each other",
        source="MySQL manual, foreign key constraints",
        decides=OVERLAP,
        log=_new_parents,
        must_overlap=True,
    ),
    Case(
        id="G-cascade-01",
        fact="a row that a cascade deleted comes back after the cascade",
        source="tiflow issue 12350; Percona PXC-3449",
        decides=AS_LOGGED,
        log=among_bystanders(
            (P, _CASCADE),
            (insert("d.p", 1, 1), insert("d.c", 1, 1)),
            (delete("d.p", id=1),),
            (insert("d.c", 1, None),),
        ),
    ),
    Case(
        id="G-cascade-02",
        fact="cascades reach the children's children",
        source="MariaDB MDEV-35018",
        decides=AS_LOGGED,
        log=among_bystanders(
            (P, _CASCADE, _GRANDCHILD),
            (insert("d.p", 1, 1), insert("d.c", 1, 1), insert("d.g", 1, 1)),
            (delete("d.p", id=1),),
            (insert("d.g", 1, None),),
        ),
    ),
    Case(
        id="G-cascade-03",
        fact="a row that ON DELETE SET NULL changed is changed again after it",
        source="MySQL manual, foreign key constraints",
        decides=AS_LOGGED,
        log=among_bystanders(
            (P, _SET_NULL),
            (insert("d.p", 1, 1), insert("d.c", 1, 1)),
            (delete("d.p", id=1),),
            (delete("d.c", id=1),),
        ),
    ),
    Case(
        id="G-cascade-04",
        fact="a row that ON UPDATE CASCADE changed is changed again after it",
        source="MySQL manual, foreign key constraints",
        decides=AS_LOGGED,
        log=among_bystanders(
            (P, _CASCADE),
            (insert("d.p", 1, 1), insert("d.c", 1, 1)),
            (update("d.p", {"id": 1}, id=2),),
            (delete("d.c", id=1),),
        ),
    ),
    Case(
        id="G-cascade-05",
        fact="a table that only a cascade writes ends as at the source",
        source="MySQL manual: cascaded changes are not in the binary log",
        decides=SAME_TABLES,
        log=among_bystanders(
            (P, _CASCADE),
            (insert("d.p", 1, 1), insert("d.c", 1, 1), insert("d.c", 2, 1)),
            (delete("d.p", id=1),),
            (insert("d.p", 1, 2),),
            (insert("d.c", 2, 1),),
        ),
    ),
    Case(
        id="G-cascade-06",
        fact="a cascade over many rows stalls nobody",
        source="Percona PXC-3449",
        decides=ENDS,
        log=among_bystanders(
            (P, _CASCADE),
            (insert("d.p", 1, 1), *(insert("d.c", number, 1) for number in range(1, 7))),
            (update("d.c", {"id": 3}, id=30),),
            (delete("d.p", id=1),),
            (insert("d.p", 1, 3),),
        ),
    ),
    Case(
        id="G-cascade-08",
        fact="a grandchild changes before one row of a later transaction cascades to it",
        source="MariaDB MDEV-35018",
        decides=AS_LOGGED,
        log=among_bystanders(
            (P, _CASCADE, _GRANDCHILD),
            (insert("d.p", 1, 1), insert("d.c", 1, 1), insert("d.g", 1, 1)),
            (delete("d.g", id=1),),
            (insert("d.other", 9, 9), delete("d.p", id=1)),
        ),
    ),
)
