"""Check every system in Coq: ``python -m paraply.proving.assistant`` (``make coq``).

It rejects axioms, and compares definitions with ``proofs/coq`` (byte for byte) and theorems with
``proofs/coq/claims.txt``. ``--write`` stores them instead.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from paraply.models.claims.theorems import THEOREMS
from paraply.models.coq.definitions import definitions, module_name
from paraply.models.coq.gallina import NotPrintableError
from paraply.models.coq.theorems import File, NotWrittenError
from paraply.models.judging.certificates.__main__ import systems
from paraply.models.judging.certificates.store import Store
from paraply.models.language.system import System, obligations
from paraply.vocabulary.errors import ParaplyError, register

NO_COQ = register("P713", "coqc is not installed", "apt-get install coq (8.16 in Debian 12)")

STORED = Path(__file__).resolve().parents[1] / "proofs" / "coq"
BY_HAND = ("Foundation", "Response")
"""In the order of their imports."""
CLOSED = "Closed under the global context"
TIMEOUT_S = 600.0
"""Wall-clock limit per system."""
IN_ALL_S = 600.0
"""CPU seconds for all systems; more is a warning, as slower machines are no fault of a proof."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Coq's result for one system.

    Attributes:
        theorems: statements by theorem, as Coq prints them.
        problem: the reason for a refusal, or empty.
        obligations: number of lemmas.
        cpu_s: CPU seconds of ``coqc``.
    """

    module: str
    theorems: Mapping[str, str]
    problem: str = ""
    obligations: int = 0
    lines: int = 0
    cpu_s: float = 0.0


def compiled(folder: Path, module: str) -> tuple[str, str, float]:
    """Return ``coqc``'s output, errors and CPU seconds."""
    if shutil.which("coqc") is None:
        raise ParaplyError(NO_COQ)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(
            ["coqc", "-q", f"{module}.v"],
            cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
        )  # fmt: skip
        errors = done.stderr if done.returncode else ""
        said = done.stdout
    except subprocess.TimeoutExpired:
        said, errors = "", f"no answer within {TIMEOUT_S:.0f} s"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return said, errors.strip() or ("" if not errors else "coqc failed"), cpu_s


def prepare(folder: Path) -> None:
    """Compile the files written by hand in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for module in BY_HAND:
        shutil.copy(STORED / f"{module}.v", folder)
        _, errors, _ = compiled(folder, module)
        if errors:
            raise RuntimeError(f"{module}.v does not compile: {errors}")


def check_text(folder: Path, system: System, text: str) -> Checked:
    """Check a system's file, axioms included."""
    module = module_name(system)
    folder.joinpath(f"{module}.v").write_text(text, encoding="utf-8")
    _, errors, cpu_s = compiled(folder, module)
    if errors:
        return Checked(module=module, theorems={}, problem=f"coqc: {errors[:500]}", cpu_s=cpu_s)
    names = system.claims
    asked = [f"Require Import {' '.join(BY_HAND)} {module}.", "Set Printing Width 1000."]
    for name in names:
        asked += [f"Check {module}.{name}.", f"Print Assumptions {module}.{name}."]
    folder.joinpath("Claims.v").write_text("\n".join(asked) + "\n", encoding="utf-8")
    said, errors, more_s = compiled(folder, "Claims")
    closed = said.count(CLOSED)
    problem = f"coqc: {errors[:500]}" if errors else ""
    if not problem and closed != len(names):
        problem = f"{len(names) - closed} of {len(names)} theorems rest on axioms"
    return Checked(
        module=module,
        theorems=dict(_printed(said, module)),
        problem=problem,
        obligations=len(obligations(system)),
        lines=text.count("\n"),
        cpu_s=cpu_s + more_s,
    )


def _printed(said: str, module: str) -> Iterator[tuple[str, str]]:
    for block in said.split(CLOSED):
        found = re.match(rf"\s*(?:{module}\.)?(\w+)\s*:\s*(.*)", block, re.DOTALL)
        if found:
            yield found[1], " ".join(found[2].split())


def checked(folder: Path, system: System, store: Store) -> Checked:
    """Write a system's file and check it."""
    try:
        text = File(system, store).text()
    except (NotWrittenError, NotPrintableError) as refusal:
        return Checked(module=module_name(system), theorems={}, problem=str(refusal))
    return check_text(folder, system, text)


def claims_text(claims: Mapping[str, str]) -> str:
    """Return the list of theorems with statements."""
    return "".join(f"{name}\n  {statement}\n" for name, statement in sorted(claims.items()))


def claims_of(text: str) -> dict[str, str]:
    """Return claims by name."""
    lines = text.splitlines()
    return {
        name: statement.strip() for name, statement in zip(lines[::2], lines[1::2], strict=True)
    }


def compared(system: System, result: Checked, claims: Mapping[str, str], stored: Path) -> str:
    """Return the difference from the stored results."""
    path = stored / f"{result.module}.v"
    if not path.exists() or path.read_text(encoding="utf-8") != definitions(system):
        return f"the definitions differ from {path.name}"
    wanted = {name: s for name, s in claims.items() if name.split(".")[0] == result.module}
    found = {f"{result.module}.{name}": s for name, s in result.theorems.items()}
    if wanted != found:
        odd = sorted(n for n in wanted.keys() | found.keys() if wanted.get(n) != found.get(n))
        return f"the claims differ: {', '.join(odd)}"
    return ""


def store_results(results: Sequence[Checked], built: Sequence[System], stored: Path) -> None:
    """Store some systems' definitions, claims and times."""
    modules = {module_name(system) for system in systems()}
    for path in stored.glob("M_*.v"):
        if path.stem not in modules:
            path.unlink()
    for system in built:
        path = stored / f"{module_name(system)}.v"
        path.write_text(definitions(system), encoding="utf-8")
    fresh = {result.module for result in results}
    kept = {
        name: said
        for name, said in stored_claims(stored).items()
        if name.split(".")[0] in modules - fresh
    }
    made = {f"{r.module}.{name}": said for r in results for name, said in r.theorems.items()}
    stored.joinpath("claims.txt").write_text(claims_text(kept | made), encoding="utf-8")
    record = {module: row for module, row in stored_record(stored).items() if module in modules}
    for r in results:
        record[r.module] = {
            "theorems": len(r.theorems), "obligations": r.obligations, "lines": r.lines,
            "cpu_s": round(r.cpu_s, 1),
        }  # fmt: skip
    text = json.dumps(record, indent=1) + "\n"
    stored.joinpath("record.json").write_text(text, encoding="utf-8")


def stored_claims(stored: Path = STORED) -> dict[str, str]:
    """Return the stored claims."""
    path = stored / "claims.txt"
    return claims_of(path.read_text(encoding="utf-8")) if path.exists() else {}


def stored_record(stored: Path = STORED) -> dict[str, dict[str, float]]:
    """Return the stored record."""
    path = stored / "record.json"
    record: dict[str, dict[str, float]] = (
        json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    )
    return record


def main(argv: Sequence[str] | None = None) -> int:
    """Check; exit code 1 for a refusal."""
    parser = argparse.ArgumentParser(
        prog="python -m paraply.proving.assistant", description=__doc__
    )
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help="names (default: all)")
    parser.add_argument("--folder", type=Path, default=Path("build/coq"), help="where Coq works")
    parser.add_argument("--write", action="store_true", help="store definitions, claims and times")
    chosen = parser.parse_args(argv)
    every = systems()
    built = [system for system in every if not chosen.systems or system.name in chosen.systems]
    unknown = sorted(set(chosen.systems) - {system.name for system in every})
    if unknown:
        parser.error(f"no system {unknown[0]}")
    claims = stored_claims()
    try:
        prepare(chosen.folder)
    except ParaplyError as error:
        print(f"{error.text}\n  {error.remedy}", file=sys.stderr)
        return 3
    results, refused, started = [], 0, time.monotonic()
    for system in built:
        result = checked(chosen.folder, system, Store())
        problem = result.problem
        if not problem and not chosen.write:
            problem = compared(system, result, claims, STORED)
        results.append(result)
        refused += bool(problem)
        shown = problem or (
            f"{len(result.theorems)} theorems about all runs, {result.obligations} obligations, "
            f"{result.cpu_s:.1f} CPU s"
        )
        print(f"{system.name}: {shown}", flush=True)
    if not chosen.systems:
        refused += _missing(results)
    if chosen.write and not refused:
        store_results(results, built, STORED)
    total = sum(result.cpu_s for result in results)
    print(f"{len(results) - min(refused, len(results))} of {len(results)} systems, "
          f"{sum(len(r.theorems) for r in results)} theorems, {total:.0f} CPU s, "
          f"{time.monotonic() - started:.0f} s in all")  # fmt: skip
    if total > IN_ALL_S:
        print(f"warning: more than {IN_ALL_S:.0f} CPU s", file=sys.stderr)
    return 1 if refused else 0


def _missing(results: Sequence[Checked]) -> int:
    stated = {result.module: result.theorems for result in results}
    missing = [
        f"{theorem.id}: {module_name(system)}.{name}"
        for theorem in THEOREMS
        for system in (build() for build in theorem.systems)
        for name in theorem.statements
        if name not in stated.get(module_name(system), {})
    ]
    for one in missing:
        print(f"no Coq theorem for {one}")
    return len(missing)


if __name__ == "__main__":
    sys.exit(main())
