"""A few scripts of counterexamples on real servers; `python -m ci.counterexamples` has all."""

from __future__ import annotations

import pytest

from ci.counterexamples.__main__ import SERVERS, perform
from ci.counterexamples.registry import SCRIPTS
from paraply.vocabulary.errors import ParaplyError

pytestmark = pytest.mark.live


def decided(script, server):
    """Run a script; return its outcomes by counterexample."""
    try:
        installation = SERVERS[server]()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    result = perform(SCRIPTS[script], installation)
    print(f"live: {result['server']}", *result["notes"], sep="\n  ")
    assert result["error"] == ""
    assert set(result["decisions"]) <= set(SCRIPTS[script].decides)
    return {name: each["outcome"] for name, each in result["decisions"].items()}


def test_mariadb_inserts_a_row_of_myisam_again_after_a_crash():
    assert decided("position-after-the-data", "mariadb") == {
        "C26": "reproduced", "C71": "reproduced",
    }  # fmt: skip


def test_mariadb_forgets_what_a_position_table_without_transactions_covers():
    assert decided("position-table-without-transactions", "mariadb") == {"C45": "reproduced"}


def test_mysql_without_commit_order_shows_gaps():
    assert decided("commit-order-off", "mysql") == dict.fromkeys(
        ("C11", "C12", "C27"), "reproduced"
    )


def test_mysql_starts_nothing_before_the_prefix_that_last_committed_names():
    assert decided("last-committed-is-a-prefix", "mysql") == dict.fromkeys(
        ("C04", "C23", "C29", "C61"), "impossible"
    )
