"""``paraply prove``: every theorem by every solver asked for, and every counterexample."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from models.counterexamples import COUNTEREXAMPLES, Counterexample
from models.proving import ObligationCache, Proof, Refutation, prove, refute
from models.smtlib import script
from models.solver import JUDGES, Answer
from models.system import obligations
from models.theorems import THEOREMS, Theorem, theorem
from paraply.errors import USAGE
from paraply.progress import progress
from paraply.report.proof_text import counterexample_text, matrix_text
from vocabulary.errors import ParaplyError
from vocabulary.verdict import Verdict, combine

_EXAMPLE = """\
example:
  paraply prove                      all theorems by Z3 and cvc5, all counterexamples
  paraply prove P01 C03 --matrix     one of each, with the matrix invariant x action
  paraply prove --export out/smt2    the obligations as SMT-LIB 2, for another solver
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``paraply prove``."""
    parser.description = (
        "Prove each theorem by induction, for any number of transactions, rows and steps, and find "
        "each counterexample again. An undecided obligation is not proved: exit code 2."
    )
    parser.epilog = _EXAMPLE
    parser.add_argument("ids", nargs="*", metavar="ID", help="P01, C03, ... (default: all)")
    parser.add_argument("--solver", choices=[*JUDGES, "all"], default="all")
    parser.add_argument("--seeds", type=int, default=1, metavar="K", help="prove K times")
    parser.add_argument("--timeout", type=float, default=10.0, metavar="S", help="per obligation")
    parser.add_argument("--matrix", action="store_true", help="print invariant x action")
    parser.add_argument("--export", type=Path, metavar="DIR", help="write SMT-LIB 2 files")
    parser.add_argument("--json", type=Path, metavar="F", help="write the results to a file")


def chosen(ids: Sequence[str]) -> list[Theorem | Counterexample]:
    """Return the entries named, all where none is; an unknown name is a usage error."""
    if not ids:
        return [*THEOREMS, *COUNTEREXAMPLES]
    found = [theorem(identifier) for identifier in ids]
    for identifier, entry in zip(ids, found, strict=True):
        if entry is None:
            known = f"{THEOREMS[0].id}..{THEOREMS[-1].id}, C01..{COUNTEREXAMPLES[-1].id}"
            raise ParaplyError(
                USAGE, reason=f"no theorem {identifier!r}; known: {known}", command="paraply prove"
            )
    return [entry for entry in found if entry is not None]


def run(arguments: argparse.Namespace) -> int:
    """Prove and refute what was asked for; 0 if all came out as stated, 2 if some are undecided."""
    entries = chosen(arguments.ids)
    solvers = list(JUDGES) if arguments.solver == "all" else [arguments.solver]
    cache = ObligationCache()
    verdicts: list[Verdict] = []
    rows: list[dict[str, object]] = []
    with progress("proving", total=len(entries)) as advance:
        for done, entry in enumerate(entries):
            advance(done)
            if isinstance(entry, Theorem):
                proofs = [
                    prove(entry, solver, cache, timeout_s=arguments.timeout, seed=seed)
                    for solver in solvers
                    for seed in range(arguments.seeds)
                ]
                verdicts += [proof.verdict for proof in proofs]
                rows += [_proof_row(proof) for proof in proofs]
                _print_theorem(entry, proofs, matrix=arguments.matrix)
            else:
                found = refute(entry)
                verdicts.append(Verdict.HOLDS if found.as_expected else Verdict.VIOLATED)
                rows.append(_refutation_row(found))
                print(counterexample_text(found, table=bool(arguments.ids)))
    if arguments.export:
        print(f"wrote {export(entries, arguments.export)} obligations to {arguments.export}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    verdict = combine(verdicts)
    as_stated = sum(verdict is Verdict.HOLDS for verdict in verdicts)
    print(f"\n{as_stated} of {len(verdicts)} came out as stated")
    return verdict.exit_code


def export(entries: Sequence[Theorem | Counterexample], folder: Path) -> int:
    """Write one SMT-LIB 2 file per obligation of the theorems; ``unsat`` means proved."""
    folder.mkdir(parents=True, exist_ok=True)
    written: set[str] = set()
    for entry in entries:
        if isinstance(entry, Counterexample):
            continue
        for system in (build() for build in entry.systems):
            for obligation in obligations(system):
                name = f"{obligation.system}--{obligation.statement}--{obligation.step}.smt2"
                name = name.replace("[", "-").replace("]", "").replace(" ", "_")
                (folder / name).write_text(script(obligation), encoding="utf-8")
                written.add(name)
    return len(written)


def _print_theorem(entry: Theorem, proofs: Sequence[Proof], *, matrix: bool) -> None:
    print(f"{entry.id}  {entry.claim}")
    for proof in proofs:
        proved = sum(judgment.answer is Answer.PROVED for judgment in proof.judgments)
        slowest = max(judgment.seconds for judgment in proof.judgments)
        word = {Verdict.HOLDS: "proved", Verdict.UNKNOWN: "undecided", Verdict.VIOLATED: "REFUTED"}
        print(
            f"     {proof.solver:5} {word[proof.verdict]}: {proved} of {len(proof.judgments)} "
            f"obligations, {proof.seconds:.1f} s, slowest {slowest:.2f} s"
        )
        if matrix or proof.verdict is not Verdict.HOLDS:
            print(matrix_text(proof))


def _proof_row(proof: Proof) -> dict[str, object]:
    return {
        "id": proof.theorem.id,
        "claim": proof.theorem.claim,
        "solver": proof.solver,
        "verdict": proof.verdict.word,
        "obligations": len(proof.judgments),
        "proved": sum(judgment.answer is Answer.PROVED for judgment in proof.judgments),
        "seconds": round(proof.seconds, 3),
    }


def _refutation_row(found: Refutation) -> dict[str, object]:
    steps = [] if found.run is None else found.run.steps
    return {
        "id": found.counterexample.id,
        "title": found.counterexample.title,
        "as_expected": found.as_expected,
        "steps": [{"action": step.action, **step.parameters} for step in steps],
    }
