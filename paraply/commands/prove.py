"""``paraply prove``: check theorems with judges, and counterexamples."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from paraply.errors import USAGE
from paraply.file_arguments import JsonFile, OutputFolder
from paraply.models.claims.claim import Counterexample, Theorem
from paraply.models.claims.refuted import COUNTEREXAMPLES
from paraply.models.claims.theorems import THEOREMS, theorem
from paraply.models.judging.judges import JUDGES
from paraply.models.judging.proving import (
    ObligationCache,
    Proof,
    Refutation,
    prove,
    refute,
    replayed,
)
from paraply.models.judging.solver import SOLVERS, Answer, installed, is_installed
from paraply.models.judging.traces import stored_runs
from paraply.models.language.quantifier_lint import lint
from paraply.models.language.smtlib import script
from paraply.models.language.system import Obligation, obligations
from paraply.number_arguments import within
from paraply.progress import progress
from paraply.proving.stability import ROUNDS_MAX, TIMEOUTS_S, rounds
from paraply.reporting.files import (
    STANDARD_OUTPUT,
    make_folder,
    write_report,
)
from paraply.reporting.json_document import json_document
from paraply.reporting.proof_text import counterexample_text, matrix_text
from paraply.version import VERSION
from paraply.vocabulary.counting import counted
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict, combine

_EPILOG = """\
examples:
  paraply prove --list               what there is to prove and to refute
  paraply prove                      all theorems by all three judges, all counterexamples
  paraply prove --solver kernel      by the stored certificates; no solver need be installed
  paraply prove P01 C03 --matrix     one of each, with the matrix invariant x action
  paraply prove --seeds 10 --orders 10    is every proof stable in both solvers?
  paraply prove --export out/smt2    the obligations as SMT-LIB 2, for another solver

exit codes: 0 every theorem is proved and every counterexample found; 1 one is not as stated; 2 one
is undecided
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Prove each theorem by induction, for any number of transactions, rows and steps, and\n"
        "find each counterexample again. The judges are two solvers and a kernel, which checks\n"
        "stored certificates without them."
    )
    parser.epilog = _EPILOG
    parser.add_argument("ids", nargs="*", metavar="ID", help="P01, C03, ... (default: all)")
    parser.add_argument("--list", action="store_true", help="print each ID with what it states")
    parser.add_argument("--solver", choices=[*JUDGES, "all"], default="all",
                        help="who judges (all three; without solvers, the kernel)")  # fmt: skip
    parser.add_argument("--seeds", type=within(int, 1, ROUNDS_MAX), default=1, metavar="K",
                        help="prove with K random seeds in each solver (1)")  # fmt: skip
    parser.add_argument("--orders", type=within(int, 0, ROUNDS_MAX), default=0, metavar="K",
                        help="and with the assertions in K other orders (0)")  # fmt: skip
    parser.add_argument("--timeout", type=within(float, *TIMEOUTS_S), metavar="S",
                        help="CPU seconds that a solver has for each obligation (10), and for "
                        "each length of a run (300); the kernel has a fixed budget")  # fmt: skip
    parser.add_argument("--matrix", action="store_true", help="print invariant x action")
    parser.add_argument("--lint", action="store_true",
                        help="warn of quantifiers that solvers stumble over")  # fmt: skip
    parser.add_argument("--export", type=OutputFolder, metavar="DIR", help="write SMT-LIB 2 files")
    parser.add_argument("--json", type=JsonFile, metavar="F", help="write JSON; - is stdout")


def chosen(ids: Sequence[str]) -> list[Theorem | Counterexample]:
    """Return the named entries, or all."""
    if not ids:
        return [*THEOREMS, *COUNTEREXAMPLES]
    found = [theorem(identifier) for identifier in ids]
    for identifier, entry in zip(ids, found, strict=True):
        if entry is None:
            known = f"{THEOREMS[0].id}..{THEOREMS[-1].id}, C01..{COUNTEREXAMPLES[-1].id}"
            raise ParaplyError(
                USAGE,
                reason=f"no theorem {identifier!r}; known: {known} (--list)",
                command="paraply prove",
            )
    return [entry for entry in found if entry is not None]


def run(arguments: argparse.Namespace) -> int:
    """Prove and refute; 0 if as stated, 2 if undecided."""
    entries = chosen(arguments.ids)
    if arguments.export is not None:
        # Made first, because the JSON may go there.
        make_folder(str(arguments.export))
    if arguments.list:
        _print_list(entries, arguments.json)
        if arguments.export is not None:
            _export(arguments, entries)
        return 0
    judges = _judges(arguments.solver)
    asks_a_solver = any(judge in SOLVERS for judge in judges)
    _require_solvers(arguments, entries, judges)
    say = print if arguments.json != STANDARD_OUTPUT else _say_nothing
    limit = {} if arguments.timeout is None else {"timeout_s": arguments.timeout}
    cache = ObligationCache()
    verdicts: list[Verdict] = []
    rows: list[dict[str, object]] = []
    with progress("proving", total=len(entries)) as advance:
        for done, entry in enumerate(entries):
            advance(done)
            if isinstance(entry, Theorem):
                say(_line(entry))
                for judge in judges:
                    proofs = [
                        prove(entry, judge, cache, seed=seed, order=order, **limit)
                        for seed, order in rounds(judge, arguments.seeds, arguments.orders)
                    ]
                    verdicts += [proof.verdict for proof in proofs]
                    rows += [_proof_row(proof) for proof in proofs]
                    say(*_proof_lines(proofs, matrix=arguments.matrix), sep="\n")
            else:
                found = refute(entry, **limit) if asks_a_solver else stored_refutation(entry)
                verdicts.append(found.verdict)
                rows.append(_refutation_row(found))
                say(counterexample_text(found, table=bool(arguments.ids)))
    if arguments.lint:
        say(*lint_lines(entries), sep="\n")
    if arguments.export is not None:
        _export(arguments, entries)
    verdict = combine(verdicts)
    if arguments.json is not None:
        write_report(arguments.json, json_document({"verdict": verdict.word, "results": rows}))
    say(f"\n{last_line(rows)}")
    return verdict.exit_code


def last_line(rows: Sequence[Mapping[str, object]]) -> str:
    """Return how many results are as stated, and which are not."""
    odd = [row for row in rows if row["verdict"] != Verdict.HOLDS.word]
    named = ", ".join(
        " ".join([str(row["id"]), *(["by " + str(row["solver"])] if "solver" in row else []),
                  "is", str(row["verdict"])])
        for row in odd
    )  # fmt: skip
    as_stated = f"{len(rows) - len(odd)} of {len(rows)} came out as stated"
    return f"{as_stated}; {named}" if odd else as_stated


def _judges(asked: str) -> list[str]:
    if asked != "all":
        return [asked]
    if any(is_installed(solver) for solver in SOLVERS):
        return list(JUDGES)
    print("no solver is installed: the kernel judges alone", file=sys.stderr)
    return [judge for judge in JUDGES if judge not in SOLVERS]


def _export(arguments: argparse.Namespace, entries: Sequence[Theorem | Counterexample]) -> None:
    written = export(entries, Path(arguments.export))
    if arguments.json != STANDARD_OUTPUT:
        print(f"wrote {written} obligations to {arguments.export}")


def _say_nothing(*_lines: str, sep: str = "") -> None:
    """Keep standard output for the JSON."""


def _require_solvers(
    arguments: argparse.Namespace,
    entries: Sequence[Theorem | Counterexample],
    judges: Sequence[str],
) -> None:
    solvers = {judge for judge in judges if judge in SOLVERS}
    if not solvers:
        for option, default in (("seeds", 1), ("orders", 0)):
            if getattr(arguments, option) != default:
                reason = f"--{option} is for the solvers: the kernel does the same every time"
                raise ParaplyError(USAGE, reason=reason, command="paraply prove")
        return
    if not any(isinstance(entry, Theorem) for entry in entries):
        solvers = set()
    if any(isinstance(entry, Counterexample) for entry in entries):
        solvers.add("z3")  # It finds the runs for every prover.
    for solver in sorted(solvers):
        installed(solver)


def _line(entry: Theorem | Counterexample) -> str:
    kind = "" if entry.kind == "safety" else f"({entry.kind}) "
    return f"{entry.id}  {kind}{_claim(entry)}"


def _claim(entry: Theorem | Counterexample) -> str:
    return entry.claim if isinstance(entry, Theorem) else entry.title


def _print_list(entries: Sequence[Theorem | Counterexample], json_file: str | None) -> None:
    if json_file is not None:
        records = [
            {
                "id": entry.id,
                "claim": _claim(entry),
                "expected": "proved" if isinstance(entry, Theorem) else "refuted",
                "kind": entry.kind,
            }
            for entry in entries
        ]
        write_report(json_file, json_document({"entries": records}))
    if json_file != STANDARD_OUTPUT:
        print(*map(_line, entries), sep="\n")


def lint_lines(entries: Sequence[Theorem | Counterexample]) -> list[str]:
    """Return lint warnings of the systems."""
    built = [build() for e in entries if isinstance(e, Theorem) for build in e.systems]
    found = {system.name: lint(system) for system in built}
    lines = [f"     {name}: {warned}" for name, warnings in found.items() for warned in warnings]
    return ["", f"lint: {counted(len(lines), 'warning')}; none makes a proof wrong", *lines]


def stored_refutation(entry: Counterexample) -> Refutation:
    """Replay a counterexample on plain values."""
    return Refutation(entry, replayed(entry, stored_runs()[entry.id]), is_shortest=False)


def export(entries: Sequence[Theorem | Counterexample], folder: Path) -> int:
    """Write SMT-LIB 2 obligations; ``unsat`` means proved."""
    written: set[str] = set()
    for entry in entries:
        if isinstance(entry, Counterexample):
            continue
        for system in (build() for build in entry.systems):
            for obligation in obligations(system):
                name = f"{obligation.system}--{obligation.statement}--{obligation.step}.smt2"
                name = name.replace("[", "-").replace("]", "").replace(" ", "_")
                head = f"; paraply {VERSION}\n; {_kind(obligation)}\n"
                write_report(str(folder / name), head + script(obligation))
                written.add(name)
    return len(written)


def _kind(obligation: Obligation) -> str:
    if not obligation.claim:
        return "induction"
    kind = "safety" if obligation.step == "safety" else "progress"
    return f"{kind}: {obligation.claim}"


def _proof_lines(proofs: Sequence[Proof], *, matrix: bool) -> list[str]:
    word = {Verdict.HOLDS: "proved", Verdict.UNKNOWN: "undecided", Verdict.VIOLATED: "REFUTED"}
    seeds = sum(proof.order == 0 for proof in proofs)
    orders = len(proofs) - seeds
    verdict = combine(proof.verdict for proof in proofs)
    again = f" with {counted(seeds, 'seed')} and {counted(orders, 'other order')}"
    lines = [
        f"     {proofs[0].solver:6} {word[verdict]}: {sum(proof.proved for proof in proofs)} of "
        f"{sum(len(proof.judgments) for proof in proofs)} obligations"
        f"{again if len(proofs) > 1 else ''}, {sum(proof.seconds for proof in proofs):.1f} CPU s, "
        f"slowest {max(proof.slowest_s for proof in proofs):.2f} s"
    ]
    for proof in proofs:
        if proof.verdict is not Verdict.HOLDS:
            if len(proofs) > 1:
                lines.append(f"     with seed {proof.seed}, order {proof.order}:")
            lines.append(matrix_text(proof))
            reasons = {j.reason for j in proof.judgments if j.answer is Answer.UNDECIDED}
            lines += [f"     undecided: {reason}" for reason in sorted(reasons - {""})]
    if matrix and verdict is Verdict.HOLDS:
        lines.append(matrix_text(proofs[0]))
    return lines


def _proof_row(proof: Proof) -> dict[str, object]:
    return {
        "id": proof.theorem.id,
        "claim": proof.theorem.claim,
        "kind": proof.theorem.kind,
        "solver": proof.solver,
        "seed": proof.seed,
        "order": proof.order,
        "verdict": proof.verdict.word,
        "obligations": len(proof.judgments),
        "proved": proof.proved,
        "seconds": round(proof.seconds, 3),
        "slowest_seconds": round(proof.slowest_s, 3),
    }


def _refutation_row(found: Refutation) -> dict[str, object]:
    steps = [] if found.run is None else found.run.steps
    return {
        "id": found.counterexample.id,
        "title": found.counterexample.title,
        "kind": found.counterexample.kind,
        "as_expected": found.as_expected,
        "verdict": found.verdict.word,
        "shown_shortest": found.is_shortest,
        "steps": [{"action": step.action, **step.parameters} for step in steps],
        "loop": None if found.run is None else found.run.loop,
    }
