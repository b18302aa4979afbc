"""ALTER TABLE inside of both logs: values of columns that only a part of the log has."""

from __future__ import annotations

import pytest

from paraply.properties.two_logs.judgement import Level
from paraply.verifying.pipeline import VerifyRequest, verify
from paraply.vocabulary.verdict import Verdict
from tests.builders import column_specs as spec
from tests.verifying.small_logs import ACCOUNT, TABLES, Server, Txn, account

WIDE = (*ACCOUNT, spec.integer(4).named("extra"))
START = {("account", number): (number, "ann", 0) for number in range(1, 6)}
BEFORE = [Txn(account(number, 10 + number)) for number in (1, 2, 1, 3)]
AFTER = [(1, 20), (4, 21), (2, 22), (1, 23)]
"""Row and balance; row 4 is first changed after the ALTER."""


def log(path, *, early=0, adds=True, kept=5, changed=None, has_key=True) -> str:
    """BEFORE, then a column is added or dropped, then AFTER.

    ``early`` changes of BEFORE come after it. ``changed`` is a row whose extra value is another one
    while it is there.
    """
    rows = dict(START)
    server = Server(has_key=has_key)

    def become(columns):
        server.tables = TABLES | {"account": columns}
        for (table, number), row in list(server.rows.items()):
            value = 99 if number == changed else 5
            server.put(table, number, (*row[:3], value) if columns is WIDE else row[:3])

    server.rows = rows
    become(ACCOUNT if adds else WIDE)

    def write(number, balance):
        row = server.rows["account", number]
        server.commit(Txn({("account", number): (*row[:2], balance, *row[3:])}))

    changes = [(number, row[2]) for txn in BEFORE for (_, number), row in txn.writes.items()]
    for change in changes[: len(changes) - early]:
        write(*change)
    server.sequence += 1
    server.writer.mariadb_gtid(server.sequence, flags=0x21)
    server.writer.query(f"ALTER TABLE account {'ADD' if adds else 'DROP'} COLUMN extra INT")
    become(WIDE if adds else ACCOUNT)
    for change in [*changes[len(changes) - early :], *AFTER[:kept]]:
        write(*change)
    return server.save(path)


def verified(tmp_path, *, by_content, has_key, source=None, **target):
    files = [
        log(tmp_path / name, has_key=has_key, **options)
        for name, options in (("s", source or {}), ("t", target))
    ]
    return verify(
        VerifyRequest(
            source=(files[0],), target=(files[1],), by_content=by_content, required="prefix"
        )
    )


@pytest.mark.parametrize("has_key", [True, False])
@pytest.mark.parametrize("by_content", [True, False])
@pytest.mark.parametrize("adds", [True, False])
def test_equal_values_hold_and_another_one_is_found(tmp_path, adds, by_content, has_key):
    how = {"by_content": by_content, "has_key": has_key, "source": {"adds": adds}, "adds": adds}
    healthy = verified(tmp_path, **how)
    assert healthy.verdict is Verdict.HOLDS, healthy.unknown
    assert healthy.level is Level.PREFIX
    assert not healthy.drifted
    assert verified(tmp_path, **how, kept=2).verdict is Verdict.HOLDS
    assert verified(tmp_path, **how, changed=2).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("has_key", [True, False])
def test_value_of_a_row_that_is_first_changed_later_is_found_too(tmp_path, has_key):
    result = verified(tmp_path, by_content=False, has_key=has_key, changed=4)
    assert result.verdict is Verdict.VIOLATED
    assert result.names.changed == 1


@pytest.mark.parametrize("changed", [None, 2])
def test_column_added_at_different_places_is_unknown(tmp_path, changed):
    result = verified(tmp_path, by_content=True, has_key=True, early=1, changed=changed)
    assert result.verdict is Verdict.UNKNOWN
    assert [one.subject for one in result.unknown] == ["shop.account.extra"]
