"""The default report is one screen, and mentions every cause; ``--show`` prints the rest."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest

from paraply.adapters.conformance.cases import FAMILIES, cases_named, suite
from paraply.adapters.conformance.inline import InlineLauncher
from paraply.adapters.conformance.rules.correct import LogicalClock
from paraply.adapters.conformance.rules.faulty import (
    FAULTS,
    CutsLongTransactions,
    WaitsForOneNumber,
)
from paraply.conforming.causes import groups_by_cause
from paraply.conforming.expected_failures import ExpectedFailure
from paraply.conforming.suite import Applier, CaseResult, Conformance, Result
from paraply.reporting.conform import excerpt
from paraply.reporting.conform.lines import cut_ids, height, id_words
from paraply.reporting.conform.report import SuiteReport
from paraply.reporting.conform.screen import GROUPS_SHOWN, LINES_MAX, SHOW_ALL, conform_text
from paraply.reporting.page import Page, page, use_page

COMMAND = "paraply conform --case {} --seed 0 --program={} -- ./my-applier --workers 4"
REASONS = (
    "the applier ended with exit code 70",
    "'commit_ok' was not asked for",
    "no message for 10 s",
    "worker 3 asks 'row' outside of a transaction",
    "not JSON (Expecting value: line 1 column 1 (char 0)): hello",
)


class BeginsAtOnce(LogicalClock):
    name = "begins_at_once"

    def place(self, transaction):
        return self.free_worker()


@pytest.fixture
def plain():
    before = page()
    use_page(Page(is_plain=True))
    yield
    use_page(before)


def report_of(results, **more):
    commands = {
        one.case.id: COMMAND.format(one.case.id, one.breach.program)
        for one in results
        if one.breach is not None
    }
    applier = Applier(name="wrong", features=frozenset({"lc_sn", "retry"}))
    return SuiteReport(
        applier=applier, results=results, schedules=1, seed=0, commands=commands, **more
    )


def run(rule, cases, shrink_runs_max=0):
    conformance = Conformance(
        InlineLauncher(rule), schedules=1, shrink_runs_max=shrink_runs_max
    )  # fmt: skip
    conformance.meet()
    return conformance.run_all(cases)


@pytest.fixture(scope="module")
def failures():
    """One failure of each faulty applier, with breaches and faults of many kinds."""
    found = []
    for fault in FAULTS:
        conformance = Conformance(InlineLauncher(fault.rule), schedules=4, shrink_runs_max=0)
        conformance.meet()
        found.append(conformance.run_case(cases_named([fault.case])[0]))
    failed = [one for one in found if one.result is Result.FAIL]
    assert len(failed) > 25
    return failed


def wrong_applier(failures, seed):
    """Return the results of an applier with many faults: stored failures on other cases."""
    draw = random.Random(seed)
    kinds = draw.sample(failures, draw.randint(1, len(failures)))
    share = draw.random()
    results = []
    for case in suite():
        if draw.random() < share:
            one = replace(draw.choice(kinds), case=case)
        elif draw.random() < 0.4:
            stderr = ("Traceback (most recent call last):", "KeyError: 7") * 4
            reason = draw.choice(REASONS)
            one = CaseResult(case=case, result=Result.FAIL, reason=reason, stderr=stderr, runs=1)
        else:
            kind = draw.choice([Result.PASS, Result.SLOW, Result.SKIP, Result.UNKNOWN])
            reason = "" if kind is Result.PASS else f"reason {draw.randint(1, 9)} of some {kind}"
            one = CaseResult(case=case, result=kind, reason=reason, runs=2)
        results.append(one)
    known = draw.sample(results, draw.choice([0, 3, 40]))
    expected = {
        one.case.id: ExpectedFailure(
            case=one.case.id, reason="known", link=f"https://example.org/{draw.randint(1, 5)}"
        )
        for one in known
    }
    return report_of(results, expected=expected)


def assert_is_one_screen(report, lines_max=LINES_MAX):
    text = conform_text(report)
    assert height(text.splitlines()) <= lines_max, text
    groups = groups_by_cause(one for one in report.results if not report.is_expected(one))
    for number, group in enumerate(groups):
        if number < GROUPS_SHOWN:
            assert f"FAIL {group.smallest.case.id}: " in text
            assert (group.cause.prop or group.cause.kind.split("N")[0]) in text
            others = len(group.ids) - 1
            assert not others or f"{others} other case" in text
        else:
            assert f"{group.cause.title}, {len(group.ids)}" in " ".join(text.split()), text
    for kind in Result:
        count = sum(one.result is kind for one in report.results)
        assert not count or f"{count} {kind.value}" in text.splitlines()[-1]


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("seed", range(12))
def test_wrong_applier_fills_one_screen_and_every_cause_is_mentioned(failures, seed):
    assert_is_one_screen(wrong_applier(failures, seed))


@pytest.mark.parametrize("seed", range(3))
def test_plain_report_mentions_every_cause_too(failures, seed, plain):
    assert_is_one_screen(wrong_applier(failures, seed), lines_max=LINES_MAX + 10)


def test_worst_applier_fills_one_screen(failures):
    kinds = {one.reason: one for one in failures}.values()
    results = [
        replace(one, case=case) for one, case in zip([*kinds] * 8, suite(), strict=False)
    ]  # fmt: skip
    report = report_of(results)
    assert len(groups_by_cause(results)) > 10
    assert_is_one_screen(report)


@pytest.mark.long
@pytest.mark.parametrize("rule", [BeginsAtOnce, *(fault.rule for fault in FAULTS[::2])])
def test_whole_suite_against_a_faulty_applier_fills_one_screen(rule):
    assert_is_one_screen(report_of(run(rule, suite())))


def test_single_failure_has_all_steps_to_the_breach():
    (result,) = run(WaitsForOneNumber, cases_named(["B-prefix-01"]), shrink_runs_max=20)
    text = conform_text(report_of([result]))
    assert "1 case fails" in text
    assert result.reason.startswith("replica: T4 has last_committed=3")
    for one in result.breach.history.transactions[:4]:
        assert f"  T{one.id}  | " in text
    assert "replica   start; deliver T1" in text
    assert ">>>      13  worker 2  take T4; begin T4" in text


def test_long_turn_and_many_transactions_are_cut_at_their_beginning(monkeypatch):
    monkeypatch.setattr(excerpt, "_EVENTS_OF_A_TURN_MAX", 3)
    (result,) = run(CutsLongTransactions, cases_named(["J-whole-01"]))
    text = conform_text(report_of([result]))
    (marked,) = [line for line in text.splitlines() if line.startswith("  >>>")]
    assert "worker 2  …; insert d.t.PRIMARY(5) of T4" in marked, text
    assert "  T4  | " in text
    assert "  T1  | " not in text
    assert re.search(r"  … and \d more transactions", text)


def test_short_run_is_shown_whole():
    (result,) = run(BeginsAtOnce, cases_named(["A-rotation-01"]), shrink_runs_max=100)
    text = conform_text(report_of([result]))
    assert "  source: gh-ost PR 1454" in text, text
    assert f"  >>>  breaks {result.breach.prop.name}" in text


def test_smallest_run_of_a_cause_ends_with_the_breach(failures):
    text = conform_text(report_of([replace(one, case=case) for one, case in zip(
        failures[:1] * 9 + failures[3:5] + failures[7:8] * 2, suite(), strict=False)]))  # fmt: skip
    shown = text.split("\nFAIL ")[1:]
    assert len(shown) == GROUPS_SHOWN
    for block in shown:
        (marked,) = [line for line in block.splitlines() if line.startswith("  >>>")]
        assert "T" in marked
        assert "again: paraply conform --case " in block


def test_show_all_prints_every_failure_in_full(failures):
    report = report_of(failures)
    text = conform_text(report, [SHOW_ALL])
    assert text.count("\nFAIL ") == len(failures)
    assert text.count("  again: paraply") == sum(one.breach is not None for one in failures)
    for group in groups_by_cause(failures):
        assert f"  {group.cause.title}, {len(group.ids)}: " in text


def test_show_prints_the_cases_named_and_no_other(failures):
    passing = CaseResult(case=cases_named(["A-rotation-03"])[0], result=Result.PASS, runs=3)
    unknown = CaseResult(case=cases_named(["A-rotation-04"])[0], result=Result.UNKNOWN,
                         reason="the situation never occurred", runs=3)  # fmt: skip
    report = report_of([*failures, passing, unknown])
    text = conform_text(report, ["B-prefix-01", "A-rotation-03", "A-rotation-04"])
    assert text.count("\nFAIL ") == 1
    assert "FAIL B-prefix-01: " in text
    assert "PASS A-rotation-03: " in text
    assert "UNKNOWN A-rotation-04: " in text
    assert "the situation never occurred" in text


def test_right_applier_has_a_table_and_no_causes():
    text = conform_text(report_of(run(LogicalClock, cases_named(["B-groups"]))))
    assert "cause" not in text
    assert "FAIL" not in text
    assert f"B {FAMILIES['B']}" in text


def test_ids_are_words_of_a_shell_and_a_whole_family_is_its_letter():
    family = [case.id for case in suite() if case.family == "B"]
    assert id_words(family) == [("B", len(family))]
    assert id_words(["A-rotation-03", "A-rotation-01", "B-prefix-01"]) == [
        ("A-rotation-{01,03}", 2),
        ("B-prefix-01", 1),
    ]


def test_colour_takes_no_room():
    assert height(["\x1b[31m" + "x" * page().width + "\x1b[0m", ""]) == 2


def test_cut_ids_count_those_left_out():
    ids = [case.id for case in suite() if not case.id.endswith("-01")]
    (line,) = cut_ids("cases:", ids, "", 1)
    left = int(line.split(" and ")[1].split()[0])
    assert len(line) <= page().width
    named = line.removeprefix("cases: ").split(" and ")[0].split()
    assert 0 < left == len(ids) - sum(count for word, count in id_words(ids) if word in named)
