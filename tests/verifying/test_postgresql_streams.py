"""``paraply verify`` on captured streams of PostgreSQL: subscriptions and other targets."""

from __future__ import annotations

import pytest

from paraply.properties.two_logs.judgement import Level
from paraply.reporting.verify.html import verify_html
from paraply.reporting.verify.json_form import verify_document
from paraply.reporting.verify.junit import verify_junit
from paraply.reporting.verify.sarif import verify_sarif
from paraply.reporting.verify.text import verify_text
from paraply.verifying.mapping import Rules, parse_rule
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
    rules = Rules(tables=(parse_rule("shop.*=public.*"),))
    result = verify(
        VerifyRequest(source=(source,), target=(target,), rules=rules, required="prefix")
    )
    assert result.verdict is Verdict.HOLDS, result.unknown
    assert result.level is Level.PREFIX
    assert result.mode == "other transactions"


def copied_by(origins: list[str], tmp_path, *, ready_after: int = 4, lost: int = 0):
    """A subscription that copies two tables; the second is ready some transactions later.

    Source transaction n inserts row n into both tables. The first transactions are in the copies.
    """
    count, before = 12, 3
    sides = []
    for is_target in (False, True):
        writer = StreamWriter()
        relations = {1: "public.a", 2: "public.b"}

        def described(writer=writer, relations=relations):
            for number, name in relations.items():
                writer.relation(number, name, [("id", INT4)])

        if is_target:
            for at, origin in enumerate(origins):
                writer.begin(*(("0/0", origin) if origin else ()))
                if not at:
                    described()
                for row in range(1, 1 + before + (ready_after if at else 0)):
                    writer.insert(at + 1, [row])
                writer.commit(f"7/{at + 1:X}")
        for at in range(1 + before if is_target else 1, count + 1):
            if is_target and at == lost:
                continue
            writer.begin(*((f"0/{at:X}", "pg_16400") if is_target else ()))
            if at == 1:
                described()
            writer.insert(1, [at])
            if not is_target or at > before + ready_after:
                writer.insert(2, [at])
            writer.commit(f"{'8' if is_target else '0'}/{at:X}")
        sides.append(writer.save(tmp_path / f"{is_target}.stream"))
    rules = Rules(keys={"public.a": ("id",), "public.b": ("id",)})
    request = VerifyRequest(source=(sides[0],), target=(sides[1],), rules=rules, required="per-key")
    return verify(request)


SYNC = ["pg_16400_16384", "pg_16400_16389"]


def test_initial_copy_is_a_class_of_its_own(tmp_path):
    result = copied_by(SYNC, tmp_path)
    names = result.names
    assert names is not None
    assert (names.initial_copy, names.copied, names.matched) == (2, 7, 5)
    assert (names.errant, names.missing, names.changed, names.is_faultless) == (0, 0, 0, True)
    assert [f.text for f in names.findings] == [f"{one} 0/0 is of the initial copy" for one in SYNC]
    assert verify_document(result)["names"]["initial_copy"] == 2


@pytest.mark.parametrize("origin", ["", "pg_16400", "pg_16400_16389_x", "other"])
def test_copy_without_the_origin_of_a_copy_is_errant(origin, tmp_path):
    result = copied_by([SYNC[0], origin], tmp_path)
    assert result.names is not None
    assert result.names.initial_copy == 1
    assert result.names.errant == 1
    assert not result.names.is_faultless
    assert result.verdict is Verdict.VIOLATED


def test_lost_transaction_after_the_copy_is_named(tmp_path):
    result = copied_by(SYNC, tmp_path, lost=10)
    assert result.verdict is Verdict.VIOLATED
    assert result.names is not None
    assert result.names.missing == 1


def test_lost_transaction_during_the_copy_leaves_another_state(tmp_path):
    """It is not judged by name, but its row is absent."""
    result = copied_by(SYNC, tmp_path, lost=5)
    assert result.verdict is Verdict.VIOLATED
    assert result.level is Level.DIVERGED


def pairs(order: list[int], path, *, is_target: bool) -> str:
    """A stream in which transaction n gives row n % 3 version n; 1 and 4 share a row."""
    writer = StreamWriter()
    now: dict[int, int] = {}
    for at, number in enumerate(order, start=1):
        writer.begin()
        if at == 1:
            writer.relation(4, "public.t", [("id", INT4), ("v", INT4)])
        row = number % 3
        if row in now:
            writer.update(4, [row, number], [row, now[row]])
        else:
            writer.insert(4, [row, number])
        now[row] = number
        writer.commit(f"{'7' if is_target else '0'}/{at:X}")
    return writer.save(path)


def snapshots(order: list[int], tmp_path, required: str):
    source = pairs([1, 2, 3, 4, 5], tmp_path / "source.stream", is_target=False)
    target = pairs(order, tmp_path / "target.stream", is_target=True)
    rules = Rules(keys={"public.t": ("id",)})
    return verify(VerifyRequest(source=(source,), target=(target,), rules=rules, required=required))


def test_snapshot_order_satisfies_batches_and_is_named(tmp_path):
    result = snapshots([1, 3, 2, 4, 5], tmp_path, "batches")
    assert result.verdict is Verdict.HOLDS
    assert result.level is Level.ATOMIC
    assert (result.states.snapshot_count, result.states.torn) == (1, 0)
    (found,) = verify_document(result)["states"]["snapshots"]
    assert found["target"]["name"] == "local 7/2"
    assert [one["name"] for one in found["missing"]] == ["0/2"]
    assert [one["name"] for one in found["early"]] == ["0/3"]
    text = " ".join(verify_text(result).split())
    assert "after target transaction local 7/2: with 0/3, without 0/2" in text
    assert '"level": "error"' not in verify_sarif(result)
    assert 'failures="0"' in verify_junit(result)
    assert "Snapshot order" in verify_html(result)


def test_snapshot_order_is_not_the_order_of_the_log(tmp_path):
    result = snapshots([1, 3, 2, 4, 5], tmp_path, "prefix")
    assert result.verdict is Verdict.VIOLATED
    assert result.states.snapshot_count == 1
    assert '"level": "error"' in verify_sarif(result)


@pytest.mark.parametrize("order", [[4, 1, 2, 3, 5], [1, 2, 3, 5, 4, 2], [1, 2, 4, 3, 1, 5]])
def test_other_orders_are_not_excused(order, tmp_path):
    result = snapshots(order, tmp_path, "batches")
    assert result.verdict is Verdict.VIOLATED
    assert not result.states.only_snapshots


def test_snapshot_order_excuses_no_source_whose_log_is_its_visible_order(tmp_path):
    source = run(SOURCE, tmp_path / "bin.000001", START)
    order = [SOURCE[0], *dependency_order(SOURCE[1:], 2, 1)]
    target = stream(order, tmp_path / "target.stream", origins=False)
    rules = Rules(tables=(parse_rule("shop.*=public.*"),))
    request = VerifyRequest(source=(source,), target=(target,), rules=rules, required="batches")
    result = verify(request)
    assert result.states.snapshot_count
    assert result.states.only_snapshots
    assert result.verdict is Verdict.VIOLATED
