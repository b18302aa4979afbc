"""``paraply verify`` on captured streams of PostgreSQL: subscriptions and other targets."""

from __future__ import annotations

import pytest

from paraply.properties.two_logs.judgement import Level
from paraply.verifying.mapping import Rules
from paraply.verifying.pipeline import VerifyRequest, verify
from paraply.vocabulary.verdict import Verdict
from tests.adapters.postgresql.stream_writer import INT4, TEXT, StreamWriter
from tests.verifying.small_logs import run
from tests.verifying.workloads import START, dependency_order, split, transfers

SOURCE = transfers(25, 8)


def stream(txns, path, *, origins: bool) -> str:
    """The stream of a server that commits these transactions; names are numbers of the source."""
    rows = dict(START)
    writer = StreamWriter()
    for at, txn in enumerate(txns, start=1):
        writer.begin(f"0/{txn.name or at:X}" if origins else "")
        if at == 1:
            writer.relation(4, "public.account", [("id", INT4), ("owner", TEXT), ("balance", INT4)])
        for key, row in txn.writes.items():
            writer.update(4, row, rows[key])
            rows[key] = row
        writer.commit(f"{'7' if origins else '0'}/{at:X}")
    return writer.save(path)


def verified(txns, tmp_path, **options):
    source = stream(SOURCE, tmp_path / "source.stream", origins=False)
    target = stream(txns, tmp_path / "target.stream", origins=True)
    rules = Rules(keys={"public.account": ("id",)})
    return verify(VerifyRequest(source=(source,), target=(target,), rules=rules, **options))


def test_subscription_has_the_same_transactions(tmp_path):
    result = verified(SOURCE, tmp_path)
    assert result.verdict is Verdict.HOLDS
    assert result.level is Level.PREFIX
    assert result.mode == "same transactions"
    assert result.names is not None
    assert result.names.matched == len(SOURCE)


@pytest.mark.parametrize(
    ("applier", "level"), [(lambda t: dependency_order(t, 5, 1), Level.ATOMIC),
                           (split, Level.PER_KEY)]
)  # fmt: skip
def test_other_orders_reach_their_level(applier, level, tmp_path):
    result = verified(applier(SOURCE), tmp_path, by_content=True, required="prefix")
    assert result.verdict is Verdict.VIOLATED
    assert result.level is level


def test_lost_transaction_is_named(tmp_path):
    result = verified([*SOURCE[:9], *SOURCE[10:]], tmp_path)
    assert result.verdict is Verdict.VIOLATED
    assert result.names is not None
    assert [f.text for f in result.names.findings if f.rule == "missing"] == [
        "0/A is missing, though the target has later transactions"
    ]


def test_mariadb_source_and_postgresql_target(tmp_path):
    source = run(SOURCE, tmp_path / "bin.000001", START)
    target = stream(SOURCE, tmp_path / "target.stream", origins=False)
    from paraply.verifying.mapping import parse_rule

    rules = Rules(tables=(parse_rule("shop.*=public.*"),))
    result = verify(
        VerifyRequest(source=(source,), target=(target,), rules=rules, required="prefix")
    )
    assert result.verdict is Verdict.HOLDS, result.unknown
    assert result.level is Level.PREFIX
    assert result.mode == "other transactions"
