"""Random logged transactions for Hypothesis: mostly well-formed, often tight, sometimes broken."""

from __future__ import annotations

from hypothesis import strategies as st

from paraply.vocabulary.log import LoggedKind
from tests.builders.logged import FILE, key, transaction

KEYS = [*"abcde", "u.a", "u.b", "t#uk.a"]
TABLES = ("d.t", "d.u", "d.w")
STATEMENTS = ("ALTER TABLE t ADD x INT", "DROP TABLE u", "CREATE TABLE v (i INT)", "DROP SCHEMA d")


@st.composite
def mysql_logs(draw, *, transactions_max=14, broken=True, uncertain=False, unkeyed=False):
    """Logs of LC/SN: prefix parents, gaps, zero stamps, restarts, DDL, foreign-key reads.

    With ``unkeyed`` rows without a key, row locks of parents, and rows that the log does not show.
    """
    count = draw(st.integers(0, transactions_max))
    log, number, clock = [], 0, 0
    for ordinal in range(1, count + 1):
        if broken and draw(st.integers(0, 19)) == 0:
            clock, number = clock + 1, 0
        kind = draw(st.sampled_from([LoggedKind.ROWS] * 12 + [LoggedKind.EMPTY, LoggedKind.DDL]))
        shape = draw(st.integers(0, 24)) if broken else 24
        number += draw(st.sampled_from([1, 1, 1, 1, 1, 1, 2, 4])) if broken else 1
        stamp = (draw(st.integers(0, number - 1)), number)
        if shape == 0:
            stamp, number = (0, 0), 0
        elif shape == 1:
            stamp = (number, number)
        elif shape == 2 and number > 1:
            number = draw(st.integers(1, number - 1))
            stamp = (draw(st.integers(0, number - 1)), number)
        elif shape == 3:
            stamp = (None, None)
        log.append(
            transaction(
                ordinal,
                draw(key_texts(uncertain)) if kind is LoggedKind.ROWS else "",
                kind=kind,
                **(draw(unkeyed_changes()) if unkeyed and kind is LoggedKind.ROWS else {}),
                statements=(draw(st.sampled_from(STATEMENTS)),) if kind is LoggedKind.DDL else (),
                last_committed=stamp[0],
                sequence_number=stamp[1],
                clock=clock,
                gtid=f"00000000-0000-0000-0000-000000000001:{ordinal}",
                file=FILE if clock == 0 else f"bin.{clock + 1:06}",
            )
        )
    return log


@st.composite
def mariadb_logs(draw, *, transactions_max=14):
    """Logs of commit ids: groups, singles, DDL, two domains, ids that come back."""
    log, clock = [], 0
    for ordinal in range(1, draw(st.integers(0, transactions_max)) + 1):
        clock += draw(st.integers(0, 19)) == 0
        kind = draw(st.sampled_from([LoggedKind.ROWS] * 9 + [LoggedKind.DDL]))
        domain = draw(st.sampled_from([0, 0, 0, 1]))
        log.append(
            transaction(
                ordinal,
                draw(key_texts(False)) if kind is LoggedKind.ROWS else "",
                kind=kind,
                statements=(draw(st.sampled_from(STATEMENTS)),) if kind is LoggedKind.DDL else (),
                commit_id=draw(st.sampled_from([None, 1, 1, 1, 2])),
                domain=domain,
                clock=clock,
                gtid=f"{domain}-1-{ordinal}",
            )
        )
    return log


@st.composite
def key_texts(draw, uncertain):
    """Written keys, and after a slash read ones; sometimes none."""
    written = draw(st.lists(st.sampled_from(KEYS), max_size=3, unique=True))
    read = draw(st.lists(st.sampled_from(KEYS), max_size=1, unique=True))
    if uncertain:
        written = [text + "?" * draw(st.integers(0, 1)) for text in written]
    return " ".join(written) + (" / " + " ".join(read) if read else "")


@st.composite
def unkeyed_changes(draw):
    """Fields of a transaction that has more than keys."""
    if draw(st.booleans()):
        return {}
    tables = st.lists(st.sampled_from(TABLES), max_size=2, unique=True)
    return {
        "unkeyed": (unkeyed := draw(tables)),
        "unidentified_tables": frozenset(name for name in unkeyed if draw(st.booleans())),
        "reached_tables": frozenset(draw(tables)) if draw(st.integers(0, 3)) == 0 else frozenset(),
        "locked_keys": frozenset(map(key, draw(st.lists(st.sampled_from(KEYS), max_size=2)))),
    }
