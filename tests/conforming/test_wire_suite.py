"""Runs over the wire without a server: which runs a case gets, and what becomes of each."""

from __future__ import annotations

import re
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraply.adapters.conformance.adversaries import Adversary
from paraply.adapters.conformance.cases import cases_named
from paraply.adapters.conformance.cases.case import log_for
from paraply.adapters.wire.case_logs import NotOnWireError, drains_of
from paraply.adapters.wire.run import Fault, WireRun
from paraply.conforming.suite import Result
from paraply.conforming.wire import suite
from paraply.conforming.wire.suite import (
    PROGRAM_NEVER_BEGAN,
    Judged,
    WireConformance,
    WireOptions,
)
from paraply.properties.shrinking import without_trailing_zeros
from paraply.verifying.errors import NO_ROWS
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.programs import decode_program, parse_program
from paraply.vocabulary.schedule import RecordedSchedule
from paraply.vocabulary.verdict import Verdict
from tests.verifying.small_logs import run as written
from tests.verifying.workloads import START, inverted, transfers

(PARALLEL,), (ALONE,), (FOR_FEW,) = (
    cases_named([one]) for one in ("B-random-01", "C-random-01", "D-collation-05")
)
IDS = [one.id for one in log_for(PARALLEL, 0).transactions]


def judged(verdict, *, kept=None, findings=(), choices=(), **run):
    transactions = len(IDS if kept is None else kept)
    return Judged(
        run=WireRun(**run), verdict=verdict, findings=findings, kind="", choices=choices,
        transactions=transactions, kept=kept,
    )  # fmt: skip


def conformance(run_once, **options):
    """Return the suite whose runs ``run_once`` replaces."""

    class Scripted(WireConformance):
        def run_once(self, case, schedule, seed, faults, kept=None):
            return run_once(schedule, seed, faults, kept)

    return Scripted(None, (), Path(), WireOptions(**options))


# --- The runs of a case ----------------------------------------------------------------------

WORDS = {Verdict.VIOLATED: ("lost: a row", "more"), Verdict.UNKNOWN: ("why",), Verdict.HOLDS: ()}


@given(
    case=st.sampled_from((PARALLEL, ALONE)),
    scripts=st.lists(
        st.tuples(st.sampled_from([*Verdict, "refused"]), st.booleans()), min_size=1, max_size=6
    ),
)
def test_first_breach_decides_then_what_is_unknown_then_missing_overlap(case, scripts):
    left = [(verdict, f"reason {at}", both) for at, (verdict, both) in enumerate(scripts)]
    ended = next(
        (at for at, (verdict, _) in enumerate(scripts) if verdict in (Verdict.VIOLATED, "refused")),
        len(scripts),
    )
    runs = iter(left)

    def run_once(*_):
        verdict, reason, overlapped = next(runs)
        if verdict == "refused":
            raise NotOnWireError(reason)
        findings = () if verdict is Verdict.HOLDS else (reason, "another")
        return judged(verdict, findings=findings, overlapped=overlapped)

    found = conformance(run_once, schedules=len(scripts), shrink_s=0).run_case(case)
    unknown = [reason for verdict, reason, _ in left[:ended] if verdict is Verdict.UNKNOWN]
    if ended < len(scripts):
        refused = left[ended][0] == "refused"
        expected = (Result.SKIP if refused else Result.FAIL), left[ended][1]
        assert found.runs == ended + (not refused)
    elif unknown:
        expected = Result.UNKNOWN, unknown[0]
    elif case.is_about_parallel_apply and not any(both for _, both in scripts):
        expected = Result.UNKNOWN, "no two transactions were ever under way together"
    else:
        expected = Result.PASS, ""
    assert (found.result, found.reason, found.case) == (*expected, case)


def test_each_strategy_meets_each_fault_and_a_run_without_one():
    seen = []

    def run_once(schedule, seed, faults, kept):
        seen.append((schedule.adversary, faults, seed, schedule.seed, kept))
        return judged(Verdict.HOLDS, overlapped=True)

    conformance(run_once, schedules=36, seed=7).run_case(PARALLEL)
    pairs = [(adversary, faults) for adversary, faults, *_ in seen]
    assert pairs[0] == (Adversary.STARVE_TRANSACTION, ())
    assert {one for one, _ in pairs[:6]} == set(Adversary)
    assert {faults for _, faults in pairs[:6]} == {(), *((one,) for one in Fault)}
    assert set(pairs) == set(product(Adversary, [(), *((one,) for one in Fault)]))
    assert [rest for _, _, *rest in seen] == [[7 + at, 7 + at, None] for at in range(36)]


def test_case_for_few_programs_runs_only_if_named():
    def run_once(*_):
        return judged(Verdict.HOLDS, overlapped=True)

    found = conformance(run_once).run_case(FOR_FEW)
    assert (found.result, found.runs) == (Result.SKIP, 0)
    assert found.reason.endswith(f"--case {FOR_FEW.id} runs it")
    assert conformance(run_once, named=frozenset({FOR_FEW.id})).run_case(FOR_FEW).runs > 0


def test_all_cases_run_in_order_and_each_is_told_at_once():
    told = []
    tested = conformance(lambda *_: judged(Verdict.HOLDS, overlapped=True))
    assert tested.run_all((PARALLEL, ALONE), told.append) == told
    assert [one.case for one in told] == [PARALLEL, ALONE]


# --- What is said of a breach ----------------------------------------------------------------


@settings(max_examples=20)
@given(
    needed=st.sets(st.sampled_from(IDS), min_size=1, max_size=3),
    fault=st.sampled_from([None, *Fault]),
    steps=st.integers(0, 70),
    choices=st.lists(st.integers(0, 2), max_size=4),
)
def test_breach_is_made_small_and_its_words_run_it_again(needed, fault, steps, choices):
    trace = [f"step {at}" for at in range(1, steps + 1)]

    def run_once(schedule, seed, faults, kept):
        if fault and not faults:
            return judged(Verdict.HOLDS)
        chosen = choices if not isinstance(schedule, RecordedSchedule) else schedule.choices
        left = set(IDS if kept is None else kept)
        if not left:
            raise NotOnWireError("its log is empty")
        if needed <= left:
            findings = ("lost: one", "lost: two")
        elif len(left) % 3 == 0:
            raise ParaplyError(PROGRAM_NEVER_BEGAN, where="B", reason="it ended")
        elif len(left) % 3 == 1:
            findings = ("torn: another cause",)
        else:
            return judged(Verdict.UNKNOWN, findings=("lost: who knows",))
        return judged(
            Verdict.VIOLATED, kept=kept, findings=findings, trace=trace, faults=len(faults),
            choices=without_trailing_zeros(tuple(chosen)), stderr=("oh",),
        )  # fmt: skip

    number = bool(fault)  # The first run has no fault.
    options = {"seed": 3, "schedules": 1 + number, "faults": (fault,) if fault else ()}
    found = conformance(run_once, **options).run_case(PARALLEL)
    assert (found.result, found.reason, found.stderr) == (Result.FAIL, "lost: one", ("oh",))
    assert found.runs == 1 + number
    *words, program = found.replay
    kept = ",".join(str(one) for one in IDS if one in needed)
    named = fault.value if fault else "none"
    assert words == [
        "--case", PARALLEL.id, "--seed", str(3 + number), "--keep", kept, "--faults", named
    ]  # fmt: skip
    assert decode_program(parse_program(program.removeprefix("--program="))) == ()
    second, injected, said, *lines = found.notes
    assert second == "  lost: two"
    assert injected.startswith(f"injected faults: {named};")
    hidden = max(0, steps - 60)
    assert said == (f"trace, without its first {hidden} steps:" if hidden else "trace:")
    shown = [(at, text) for at, text in enumerate(trace, 1) if at > hidden]
    assert [tuple(line.split(maxsplit=1)) for line in lines] == [
        (str(at), text) for at, text in shown
    ]


def test_logs_are_made_by_the_server_in_the_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(suite, "CaseLogs", lambda *given: given)
    assert WireConformance("server", (), tmp_path, WireOptions())._logs == ("server", tmp_path)


def test_breach_stays_as_found_without_time_to_shrink():
    runs = []

    def run_once(schedule, seed, faults, kept):
        runs.append(kept)
        return judged(Verdict.VIOLATED, findings=("lost: a row",), choices=(2, 1))

    found = conformance(run_once, shrink_s=0).run_case(PARALLEL)
    assert (runs, found.runs) == ([None], 1)
    assert "--keep" not in found.replay
    program = found.replay[-1].removeprefix("--program=")
    assert decode_program(parse_program(program)) == (2, 1)


def test_error_of_a_smaller_run_that_is_no_verdict_ends_the_suite():
    def run_once(schedule, seed, faults, kept):
        if kept is not None:
            raise ParaplyError(NO_ROWS, where="bin.000001", side="source")
        return judged(Verdict.VIOLATED, findings=("lost: a row",))

    with pytest.raises(ParaplyError, match=r"bin\.000001"):
        conformance(run_once).run_case(PARALLEL)


def test_breach_of_some_runs_of_its_schedule_says_of_how_many():
    runs = []

    def run_once(schedule, seed, faults, kept):
        runs.append(kept)
        if kept is not None or len(runs) % 2 == 0:
            return judged(Verdict.HOLDS)
        return judged(Verdict.VIOLATED, findings=("lost: a row",))

    found = conformance(run_once).run_case(PARALLEL)
    assert re.fullmatch(r"\d+ of 20 runs of this schedule fail so", found.notes[0])


# --- One run ---------------------------------------------------------------------------------


@pytest.fixture
def stage(monkeypatch, tmp_path):
    """Run a case whose source log is ``source``; the program's log at the target is ``target``."""
    seen = SimpleNamespace()

    def run(source, target, *, outcome=None, faults=(), choices=(), kept=None, **options):
        mine, theirs = (
            Path(written(txns, tmp_path / f"{name}.000001", START))
            for name, txns in (("source", source), ("target", target))
        )
        old = Path(written(source[::-1], tmp_path / "target.000000", START))

        class Gate(nullcontext):
            def __init__(self, port, log, rule):
                super().__init__(self)
                seen.gate = (port, log, rule)

        class Conductor:
            def __init__(self, gate, program, monitor, schedule, **more):
                seen.more, seen.schedule = more, schedule
                self.run = WireRun(**(outcome or {}))

            def conduct(self):
                for _ in choices:
                    seen.schedule.choose(4)
                return self.run

        for name, stub in {
            "prepare_target": lambda server, schema: seen.__dict__.update(schema=schema) or 1,
            "LockMonitor": nullcontext,
            "Gate": Gate,
            "Conductor": Conductor,
            "addresses_of": lambda gate, user: {"user": user},
            "Program": lambda *words: seen.__dict__.update(program=words),
        }.items():
            monkeypatch.setattr(suite, name, stub)
        server = SimpleNamespace(port=3307, binary_logs=lambda: [old, theirs])
        tested = WireConformance(server, ("./start",), tmp_path, WireOptions(**options))
        tested._logs = SimpleNamespace(
            make=lambda log: SimpleNamespace(served="log", files=(mine,), drains=drains_of(log))
        )
        seen.tested = tested
        found = tested.run_once(PARALLEL, RecordedSchedule(choices), 5, faults, kept)
        return found, seen

    return run


@pytest.mark.parametrize("seed", range(3))
def test_run_is_judged_by_the_log_that_the_program_wrote(stage, seed):
    source = transfers(12, seed)
    ran = {"overlapped": True, "forced": 2, "delivered": 12}
    found, seen = stage(source, source, outcome=ran, choices=(1, 3, 0, 0), patience_s=9.0)
    assert (found.verdict, found.findings, found.kind) == (Verdict.HOLDS, (), "")
    assert (found.choices, found.transactions, found.kept) == ((1, 3), len(IDS), None)
    assert (seen.tested.runs, seen.tested.overlapped, seen.tested.forced) == (1, 1, 2)
    port, log, rule = seen.gate
    assert (port, log, rule.is_active) == (3307, "log", True)
    source_log = log_for(PARALLEL, 5)
    assert seen.schema == source_log.target_schema
    command, words, output = seen.program
    assert (command, words, output.name) == (("./start",), {"user": "applier"}, "program-1.log")
    assert seen.more == {
        "groups": len(IDS), "drains": drains_of(source_log), "faults": (), "patience_s": 9.0,
        "begin": None,
    }  # fmt: skip
    wrong, _ = stage(source, inverted(source, seed), kept=tuple(IDS[:4]), faults=(Fault.KILL,))
    assert (wrong.verdict, wrong.cause) == (Verdict.VIOLATED, "reordered")
    assert (wrong.kept, wrong.size) == (tuple(IDS[:4]), (4, 0))


def test_required_level_and_compaction_reach_the_judge(stage):
    source = transfers(40, 1)
    lost = source[1:]  # Its rows are written later.
    assert stage(source, lost, required="final")[0].cause == "lost"
    found, _ = stage(source, lost, required="final", compacts=True)
    assert found.verdict is Verdict.HOLDS
    strict, _ = stage(source, inverted(source, 1), required="prefix", compacts=True)
    assert strict.kind.endswith("not prefix")


def test_program_that_gives_up_breaks_its_promise_whatever_its_log_says(stage):
    source = transfers(6, 1)
    ran = {"gave_up": "the program ended with exit code 1", "delivered": 6}
    for target in (source, source[1:]):
        found, _ = stage(source, target, outcome=ran)
        assert found.verdict is Verdict.VIOLATED
        assert found.findings[0] == ran["gave_up"]
        assert len(found.findings) > 1 or target is source


@pytest.mark.parametrize(("faults", "delivered"), [(0, 0), (1, 0), (0, 1)])
def test_program_that_never_began_without_a_fault_is_not_judged(stage, faults, delivered):
    source = transfers(6, 1)
    ran = {"gave_up": "the program did not become ready", "faults": faults, "delivered": delivered}
    if faults or delivered:
        assert stage(source, source, outcome=ran)[0].verdict is Verdict.VIOLATED
        return
    with pytest.raises(ParaplyError, match="P644") as error:
        stage(source, source, outcome=ran)
    assert "did not become ready" in str(error.value)


def test_fault_that_was_drawn_but_never_happened_is_not_injected():
    def run_once(schedule, seed, faults, kept):
        verdict = Verdict.VIOLATED if faults else Verdict.HOLDS
        return judged(verdict, findings=("lost: a row",))

    found = conformance(run_once, faults=(Fault.KILL,), schedules=2, shrink_s=0).run_case(PARALLEL)
    assert found.notes[0].startswith("injected faults: none;")
    assert found.replay[found.replay.index("--faults") + 1] == "kill"
