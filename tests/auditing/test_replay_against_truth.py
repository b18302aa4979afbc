"""The rows that the replay is left with are those the recorded server had in the end."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from paraply.auditing.pipeline import AuditRequest, audit
from paraply.vocabulary.audit_result import AuditResult

FOLDER = Path(__file__).resolve().parent.parent / "fixtures" / "binlogs"


@dataclass(frozen=True)
class Differs:
    """Why the replay cannot know how many rows a table has, and what it then must show."""

    reason: str
    holds: Callable[[int, int, AuditResult, str], bool]
    """(replayed rows, true rows, the result, table) -> whether the difference is this one."""


def _is_keyless(result, table):
    return next(not each.keys for each in result.tables if each.name == table)


KEYLESS = Differs(
    "the table has no key to follow a row by",
    lambda replayed, true, result, table: replayed == 0 and _is_keyless(result, table),
)
CASCADE = Differs(
    "MariaDB does not log what a foreign key's cascade deletes",
    lambda replayed, true, result, table: (
        replayed >= true and table in result.replay.cascaded_tables
    ),
)
REDEFINED = Differs(
    "ALTER TABLE, CREATE INDEX or RENAME made the rows before it unknown",
    lambda replayed, true, result, table: replayed < true and result.kinds["ddl"] > 0,
)
STATEMENTS = Differs(
    "statement-based changes do not show their rows",
    lambda replayed, true, result, table: (
        replayed == 0
        and result.kinds["statement"] > 0
        and any("of statements" in reason.reason for reason in result.unknown_because)
    ),
)
ROLLED_BACK = Differs(
    "a transaction that ends in ROLLBACK lists rows of which only some stay",
    lambda replayed, true, result, table: replayed < true,
)

DIFFERENCES = {
    ("mariadb", "foreign-keys", "kin.child"): CASCADE,
    ("mariadb", "foreign-keys", "kin.tree"): CASCADE,
    ("mariadb", "engines", "mixed.safe"): ROLLED_BACK,
    **{
        (product, "schema-changes", f"moving.{table}"): reason
        for product in ("mariadb", "mysql")
        for table, reason in (
            ("made", KEYLESS),
            ("nokey", KEYLESS),
            ("renamed", REDEFINED),
            ("t", REDEFINED),
        )
    },
    **{(product, "statements", "said.t"): STATEMENTS for product in ("mariadb", "mysql")},
}
"""Product, scenario and table; whatever is not here, or under one of the two below, is equal."""
SHOP_DIFFERENCES = {"shop.journal": KEYLESS}
"""Tables of the load that every scenario of the shop has."""
SHOP_CASCADES = {("mariadb", "shop.purchase"): CASCADE}
"""May differ: whether an account with purchases is deleted depends on how the clients met."""


def logs():
    for manifest in sorted(FOLDER.glob("*/*/manifest.json")):
        folder = manifest.parent
        if folder.name == "encrypted":
            continue
        product = folder.parent.name.partition("-")[0]
        written = json.loads(manifest.read_text())["logs"]
        for name, log in written.items():
            # A relay log has the rows of the source it was read from.
            truth = log.get("final_rows") or written["source"]["final_rows"]
            yield pytest.param(
                folder, product, name, log, truth, id=f"{product}/{folder.name}/{name}"
            )


@pytest.mark.long
@pytest.mark.parametrize(("folder", "product", "name", "log", "truth"), list(logs()))
def test_replay_is_left_with_as_many_rows_as_the_server(folder, product, name, log, truth):
    files = tuple(str(folder / file["file"]) for file in log["files"])
    schema = folder / ("replica-schema.sql" if name == "replica" else "schema.sql")
    result = audit(AuditRequest(files=files, schema=str(schema)))
    replayed = result.replay.tables
    assert set(replayed) <= set(truth)
    assert result.replay.final_rows == sum(replayed.values())
    expected = {
        table: reason
        for (wanted, scenario, table), reason in DIFFERENCES.items()
        if (wanted, scenario) == (product, folder.name)
    }
    expected |= {table: why for table, why in SHOP_DIFFERENCES.items() if truth.get(table)}
    for table, rows in truth.items():
        left = replayed.get(table, 0)
        if table in expected:
            reason = expected.pop(table)
            assert left != rows, f"{table} is as the server left it: {reason.reason} is outdated"
        else:
            reason = SHOP_CASCADES.get((product, table))
        if left != rows:
            assert reason is not None, f"{table}: {left} rows replayed, {rows} at the server"
            assert reason.holds(left, rows, result, table), f"{table}: not for {reason.reason}"
    assert expected == {}


@pytest.mark.long
def test_some_recorded_purchases_went_by_an_unlogged_cascade():
    shops = [log.values for log in logs() if "shop.purchase" in log.values[4]]
    assert len(shops) > 20
    left_over = set()
    for folder, product, _, log, truth in shops:
        files = tuple(str(folder / file["file"]) for file in log["files"])
        result = audit(AuditRequest(files=files, schema=str(folder / "schema.sql")))
        if result.replay.tables.get("shop.purchase", 0) > truth["shop.purchase"]:
            left_over.add(product)
    assert left_over == {"mariadb"}
