"""Programs that copy a table within one server: which logs they can be given."""

import re
from types import SimpleNamespace

import pytest

from paraply.adapters.conformance.cases import cases_named
from paraply.adapters.conformance.cases.case import log_for
from paraply.adapters.wire.case_logs import NotOnWireError
from paraply.conforming.wire.ghost import GhostTable
from paraply.conforming.wire.profiles import PROFILES, options_of

GHOST = GhostTable(pattern="_{table}_gho", begin=re.compile("ready"))


def test_log_that_was_shrunk_to_no_row_is_not_run():
    (case,) = cases_named(["B-random-01"])
    log = log_for(case, 0, ())
    assert not any(one.rows for one in log.transactions)
    assert GHOST.steps(log) == len(log.transactions)
    with pytest.raises(NotOnWireError, match="its log is empty"):
        GHOST.stage(SimpleNamespace(is_mariadb=True), log, None)


def test_changes_of_the_copied_table_take_three_steps_more():
    """That is the table with the most changes, beside the one that shows parallel work."""
    for case in cases_named(["A-random-01", "B-random-01", "E-unique-01", "I-move-01"]):
        log = log_for(case, 0)
        tables = [[row.table for row in txn.rows] for txn in log.transactions]
        changed = [name for names in tables for name in names if not name.endswith(".other")]
        most = max(sorted(set(changed)), key=changed.count)
        assert GHOST.steps(log) == sum(1 + 3 * (most in names) for names in tables)


def test_profile_holds_changes_of_rows_and_lets_copies_pass():
    """Both are ``insert ignore`` in gh-ost; a change may begin a packet of several statements."""
    rule = options_of(PROFILES["gh-ost"]).rule
    into = "insert /* gh-ost `d`.`t` */ ignore\n into\n `d`.`_t_gho`\n (`id`, `v`)\n"
    assert rule.holds(f"{into} values\n (1, 2);\ndelete /* gh-ost */ from `d`.`_t_gho`")
    assert not rule.holds(f"{into} (\n select `id`, `v` from `d`.`t` force index (`PRIMARY`))")
    assert not rule.holds("insert /* gh-ost */ into `d`.`_t_ghc` values (1)")
