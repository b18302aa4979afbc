"""Generated faulty appliers: the conformance suite detects them, and the page lists survivors."""

from collections import Counter

import pytest

from ci.mutation import suite as campaign
from ci.mutation.suite import CASES_AFTER_NOTICED, THREADS, SuiteCampaign, compared, mutants
from ci.pages.suite_mutants import OPEN, page, reason_of, records, with_examined_fate
from paraply.adapters.conformance.cases import cases_named
from paraply.conforming.suite import Result
from paraply.exploring.generated.fates import Fate, Store


@pytest.fixture(scope="module")
def every():
    return mutants()


def mutant(every, place, what):
    return next(one for one in every if one.mutation.place == place and what in one.mutation.what)


def test_rules_and_threads_have_hundreds_of_distinct_mutants(every):
    assert len({one.name for one in every}) == len(every)
    of_threads = sum(one.module.__name__ == THREADS for one in every)
    assert of_threads > 300
    assert len(every) - of_threads > 500


@pytest.mark.long(quick=4)
@pytest.mark.parametrize(
    ("place", "what", "case", "fate"),
    [
        ("LogicalClock.place", "`other.sn <= transaction.lc` → `other.sn < ", "B", Fate.CAUGHT),
        ("LogicalClock.place", "free_worker()` → `return None", "N-parallel-01", Fate.CAUGHT),
        ("LogicalClock.place", "free_worker()` → `return True", "F-parents-10", Fate.NOTICED),
        ("LogicalClock.checkpoint", "`order[0] - 1` → `order[0] + 1`", "M-pos", Fate.CAUGHT),
        ("MySQLCoordinator.on_rotated", "`del file` → `pass`", "A-rotation-01", Fate.SAME),
        ("RuleApplier._on_init", "→ `{*self.rule.features}`", "L-retry-05", Fate.LEGAL),
        ("RuleApplier._place_next", "`return False` → `return True`", "B-prefix-01", Fate.CAUGHT),
        ("Applier.ready", "`sn <= txn['lc']` → `sn < txn['lc']`", "B-prefix-01", Fate.CAUGHT),
        ("Applier.attempt", "`ask('begin')` → `pass`", "N-parallel-01", Fate.CAUGHT),
        ("Applier.attempt", "`if self.commit_order:", "B-prefix-01", Fate.SURVIVED),
        ("Applier.__init__", "`True` → `False`", "N-parallel-01", Fate.SAME),
    ],
)
def test_fate_of_a_mutant(every, place, what, case, fate):
    (found,) = SuiteCampaign(cases_named([case])).judged([mutant(every, place, what)])
    assert found.fate is fate, found


@pytest.mark.long
def test_mutant_that_hangs_is_caught_in_time(every, monkeypatch):
    monkeypatch.setattr(campaign, "ANSWER_SECONDS", 1.0)
    waiting = mutant(every, "Applier.sync", "`0` → `1`")
    busy = mutant(every, "RuleApplier._place_next", "`return False` → `return True`")
    monkeypatch.setattr(campaign.RightRule, "seconds", 0.5)
    cases = cases_named(["B-prefix-01"])
    for one in SuiteCampaign(cases).judged([waiting, busy]):
        assert one.fate is Fate.CAUGHT, one


def test_first_breach_counts_then_an_unknown_case_then_a_run_that_differs():
    def fate(*found):
        unchanged = {str(at): (Result.PASS, [1]) for at in range(20)}
        return compared([(str(at), one) for at, one in enumerate(found)], unchanged)

    same, other = (Result.PASS, [1]), (Result.PASS, [2])
    skipped, unknown, broken = (Result.SKIP, []), (Result.UNKNOWN, [2]), (Result.FAIL, [3])
    assert fate(same, same) == (Fate.SAME, "")
    assert fate(same, skipped) == (Fate.LEGAL, "1")
    assert fate(skipped, other, skipped) == (Fate.SURVIVED, "1")
    assert fate(other, same, unknown, other) == (Fate.NOTICED, "2")
    assert fate(unknown, *[same] * 5, broken) == (Fate.CAUGHT, "6")
    assert fate(unknown, *[same] * CASES_AFTER_NOTICED, broken) == (Fate.NOTICED, "0")


def test_store_is_continued_and_published(tmp_path, monkeypatch, every, capsys):
    monkeypatch.setattr(campaign, "mutants", lambda: every[:3])
    monkeypatch.setattr(campaign, "suite", lambda: cases_named(["N-parallel-01"]))
    monkeypatch.setattr(campaign, "RECORDS", tmp_path / "published.jsonl")
    store = ["--store", str(tmp_path)]
    assert campaign.main(["--sample", "2", *store]) == 0
    assert len(Store(tmp_path / "suite.jsonl").read()) == 2
    assert campaign.main([*store]) == 0
    capsys.readouterr()
    assert campaign.main(["--publish", *store]) == 0
    assert len((tmp_path / "published.jsonl").read_text().splitlines()) == 1 + 3


def test_published_mutants_are_many_and_nearly_all_are_detected(every):
    note, fates = records()
    assert note["total"] == len(every)
    assert {one["name"] for one in fates} <= {one.name for one in every}
    counts = Counter(with_examined_fate(one)["fate"] for one in fates)
    wrong = counts["caught"] + counts["noticed"] + counts["survived"]
    assert wrong >= 500
    assert counts["caught"] + counts["noticed"] >= 0.98 * wrong


def test_page_lists_survivors_and_states_the_share():
    one = {"module": "rules", "name": "", "place": "R.place", "what": "`a | b` → `a`", "by": "B-1"}
    fates = [{**one, "fate": fate} for fate in ("caught", "noticed", "survived", "invalid")]
    text = page({"total": 9, "seed": 3, "rules": 20, "threads": 12}, fates)
    assert "4 of 9 mutants were run" in text
    assert "66.7 % of 3" in text
    assert f"| `R.place` | `a \\| b` → `a` | survived | B-1 | {OPEN} |" in text


def test_reason_of_every_published_survivor_is_known():
    _, fates = records()
    survivors = [one for one in fates if one["fate"] in ("survived", "legal")]
    assert OPEN not in {reason_of(one) for one in survivors}
