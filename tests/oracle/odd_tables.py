"""What few tables have: keys on expressions, partitions, system versioning; and sequences."""

from __future__ import annotations

from random import Random

SEQUENCE = "q0"
ADVANCES = (f"SELECT NEXT VALUE FOR {SEQUENCE}", f"SELECT SETVAL({SEQUENCE}, 5)")


def sequence(draw: Random) -> str:
    """Return CREATE SEQUENCE; one without a cache logs each value that it gives."""
    options = draw.choice(("NOCACHE", "NOCACHE CYCLE MAXVALUE 3", "CACHE 2", "INCREMENT 2 NOCACHE"))
    return f"CREATE SEQUENCE {SEQUENCE} {options}"


def key_on_expression(draw: Random, types: dict[str, str], name: str, is_mysql: bool) -> list[str]:
    """Return a UNIQUE key on an expression; MariaDB needs a generated column for it."""
    column = draw.choice(list(types))
    kind = types[column].split("(")[0].split(" ")[0]
    if kind in ("varchar", "char", "text"):
        expression = draw.choice((f"lower({column})", f"left({column}, 1)", f"upper({column})"))
        type_name = "char(4)"
    else:
        expression = draw.choice((f"{column} % 2", f"{column} + 1", f"-{column}"))
        type_name = "int"
    beside = draw.choice(("", "", f", {draw.choice(list(types))}"))
    if is_mysql:
        if kind == "text":
            expression = f"CAST({expression} AS CHAR(4))"
        return [f"UNIQUE {name} (({expression}){beside})"]
    stored = draw.choice(("STORED", "VIRTUAL"))
    return [f"g{name} {type_name} AS ({expression}) {stored}", f"UNIQUE {name} (g{name}{beside})"]


def partitioned(draw: Random, elements: list[str], types: dict[str, str]) -> tuple[list[str], str]:
    """Return the elements that partitions allow, and the clause.

    Each unique key must hold the column that decides the partition.
    """
    column = draw.choice([name for name, sql in types.items() if sql.startswith("int")])
    kept = []
    for element in elements:
        head, bracket, parts = element.partition(" (")
        names = parts.rstrip(")").replace(" DESC", "").split(", ")
        if bracket and head.startswith(("PRIMARY", "UNIQUE")) and column not in names:
            element = f"{head} ({column}, {parts}"
        kept.append(element)
    how = draw.choice(
        (
            f"HASH ({column}) PARTITIONS 3",
            f"KEY ({column}) PARTITIONS 2",
            f"RANGE ({column}) (PARTITION p0 VALUES LESS THAN (3), "
            "PARTITION p1 VALUES LESS THAN MAXVALUE)",
            f"LIST ({column}) (PARTITION p0 VALUES IN (1, 2, NULL), "
            "PARTITION p1 VALUES IN (3, 4, 5))",
        )
    )
    return kept, f" PARTITION BY {how}"


def partition_change(draw: Random, table: str) -> str:
    """Return a change of partitions; some take rows away."""
    change = draw.choice(
        (
            "TRUNCATE PARTITION p0", "DROP PARTITION p0", "REMOVE PARTITIONING",
            "COALESCE PARTITION 1", "ADD PARTITION PARTITIONS 1", "REBUILD PARTITION p1",
            "REORGANIZE PARTITION p0, p1 INTO (PARTITION p2 VALUES LESS THAN MAXVALUE)",
        )
    )  # fmt: skip
    return f"ALTER TABLE {table} {change}"
