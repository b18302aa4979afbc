"""The pages of ``proofs/``, from the models, stored runs and prose.

``python -m ci.pages.proofs.pages --check`` compares, ``--write`` writes, and ``--search [ID ...]``
finds counterexamples anew for ``--write``, by default all.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ci.pages.proofs.dropping import page as dropping_page
from ci.pages.proofs.finding import page as found_page
from ci.pages.proofs.manifest import manifest, obligation_count, seconds_section
from ci.pages.proofs.replays_page import reference_section, replays_page
from ci.pages.proofs.standing import standing_cell, standing_line
from ci.pages.proofs.witnesses import stored as stored_witnesses
from ci.pages.writing import pages_main
from paraply.models.claims.claim import Counterexample, Theorem
from paraply.models.claims.refuted import COUNTEREXAMPLES
from paraply.models.claims.theorems import THEOREMS
from paraply.models.judging.proving import claim_named, refute, replayed, response_named
from paraply.models.judging.traces import stored_runs, to_data
from paraply.models.language.response import Measure, Response
from paraply.models.language.smtlib import text
from paraply.models.language.system import System
from paraply.proving.assistant import stored_record as stored_coq
from paraply.proving.stability import stored as stored_stability
from paraply.proving.stability import table
from paraply.reporting.proof_text import run_lines
from paraply.vocabulary.counting import counted

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "proofs"
RUNS = FOLDER / "counterexamples.json"
READINGS, FUZZED = FOLDER / "readings.json", FOLDER / "random_systems.json"


def _load(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / name).read_text(encoding="utf-8"))


def search(names: Sequence[str] = ()) -> None:
    """Find and store the runs of counterexamples, by default all."""
    found: dict[str, Any] = {}
    kept = stored_runs() if names else {}
    for wanted in COUNTEREXAMPLES:
        if names and wanted.id not in names:
            found[wanted.id] = kept[wanted.id]
            continue
        refuted = refute(wanted)
        if refuted.run is None:
            reason = refuted.undecided or f"no run within {wanted.steps} steps"
            raise SystemExit(f"{wanted.id}: {reason}")
        found[wanted.id] = to_data(refuted.run)
    lines = [f'"{identifier}": {json.dumps(data)}' for identifier, data in found.items()]
    RUNS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _systems(entry: Theorem) -> list[System]:
    return [build() for build in entry.systems]


def _reached(system: System) -> str:
    runs = stored_witnesses()[system.name]
    lengths = ((s.name, len(runs[s.name]["steps"])) for s in system.covers)
    return ", ".join(f"`{name}` ({steps})" for name, steps in lengths) + " (steps)"


def theorem_page(entry: Theorem, prose: dict[str, str], assumptions: dict[str, Any]) -> str:
    """Return a theorem's page."""
    systems = _systems(entry)
    first = systems[0]
    progress = [r for r in first.responses if r.name in entry.statements]
    rule = ", those of the response rule included" if progress else ""
    stated = [claim_named(first, name) for name in entry.statements]
    lines = [
        f"# {entry.id}: {entry.claim}", "",
        "## Claim", "", *(f"`{s.name}`: {s.meaning}." for s in stated), "",
        *([prose["lemma"], ""] if "lemma" in prose else []),
        "## In plain words", "", prose["plain"], "",
        "## Why it matters", "", prose["why"], "",
        "## Distance from servers", "", prose["distance"], "",
        standing_line(entry.standing), "",
        f"Source: {entry.source}. Actions:", "",
        "| action | what happens |", "| --- | --- |",
        *(f"| `{action.name}` | {action.meaning or 'time passes'} |" for action in first.actions),
        "", "## Assumptions", "",
    ]  # fmt: skip
    if entry.assumes:
        lines += [f"- **{name}** {assumptions[name]['says']}" for name in entry.assumes]
    else:
        lines += ["None beyond the model."]
    lines += [
        "", "## Argument", "", prose["argument"], "", "The inductive invariant:", "",
        "| invariant | meaning |", "| --- | --- |",
        *(f"| `{s.name}` | {s.meaning} |" for s in first.invariants), "",
        *(line for response in progress for line in response_section(first, response)),
        "## Checked", "",
        f"{obligation_count(entry)} obligations over {counted(len(systems), 'system')} "
        f"({', '.join(s.name for s in systems)}){rule}, by [three judges](README.md#three-judges). "
        f"Runs reach all actions; {_reached(first)}. It would notice "
        + ", ".join(f"[{c}]({c}.md)" for c in entry.delimited_by) + ".", "",
        *_example(entry, prose),
        "## Not claimed", "", prose["not_claimed"], "",
        "```", f"paraply prove {entry.id} --matrix", "```", "",
        "## History", "", *_history(entry), "",
    ]  # fmt: skip
    return "\n".join(lines)


def _example(entry: Theorem, prose: dict[str, str]) -> list[str]:
    if "example" not in prose:
        raise SystemExit(f"proofs/prose.toml: {entry.id} has no example")
    lines = ["## Example", "", prose["example"], ""]
    if "figure" in prose:
        lines += ["```mermaid", *prose["figure"].splitlines(), "```", ""]
    return lines


def response_section(system: System, response: Response) -> list[str]:
    """Return rank, cases and fairness of a response."""
    cases = [
        f"| `{case.name}` | {case.meaning} | "
        f"`{case.action}({', '.join(map(text, case.arguments))})` |"
        for case in response.cases
    ]  # fmt: skip
    names = ", ".join(f"`{v.name}`" for v in response.variables)
    free = [f"`{a.name}`" for a in system.actions if a.name not in response.fair]
    return [
        "## Progress", "",
        f"`{response.name}`, for each {names}: from `{text(response.pending)}` every fair run "
        f"reaches `{text(response.goal)}`.", "",
        "The rank:", "",
        *(f"{number}. {_difference(one)}" for number, one in enumerate(response.rank, start=1)), "",
        "| case | situation | helpful action |", "| --- | --- | --- |", *cases, "",
        "By the [response rule](README.md#response-rule), with weak fairness of "
        f"{', '.join(f'`{name}`' for name in response.fair)}, not of {', '.join(free)}.", "",
    ]  # fmt: skip


def _difference(measure: Measure) -> str:
    top, bottom = text(measure.top), text(measure.bottom)
    return f"`{top}`" if bottom == "0" else f"`{top}` minus `{bottom}`"


def _history(entry: Theorem) -> list[str]:
    changes = _load("history.toml")["change"]
    return [f"- {one['date']}: {one['what']}" for one in changes if entry.id in one["theorems"]]


def counterexample_page(entry: Counterexample, data: dict[str, Any]) -> str:
    """Return a counterexample's page, replayed."""
    system = entry.system()
    statement = claim_named(system, entry.statement)
    run = replayed(entry, data)
    theorems = [t.id for t in THEOREMS if entry.id in t.delimited_by]
    is_lasso = entry.kind == "progress"
    refuted = "by a fair run without end, of" if is_lasso else "after"
    return "\n".join([
        f"# {entry.id}: {entry.title}", "",
        f"Refuted {refuted} {len(run.steps)} steps"
        f"{f', {entry.loop} of them its loop' if entry.loop else ''}.",
        *(_no_shorter_lasso(entry) if is_lasso else ()), "",
        f"`{entry.statement}`: {statement.meaning}.",
        f"Delimits {', '.join(f'[{t}]({t}.md)' for t in theorems)}. Source: {entry.source}.", "",
        "## Run", "", "```", *(() if is_lasso else _scope(entry)),
        *(line[5:] for line in run_lines(run)), "```", "",
        *(_fairness(system, entry) if is_lasso else ()),
        *reference_section(entry),
        "```", f"paraply prove {entry.id}", "```", "",
    ])  # fmt: skip


def _fairness(system: System, entry: Counterexample) -> list[str]:
    fair = ", ".join(f"`{name}`" for name in response_named(system, entry.statement).fair)
    return [
        f"The run is fair to {fair}: with each choice of parameters, the action is impossible "
        "at some moment of the loop, or taken in it. The replay checks this on plain values, and "
        "that the loop closes.", "",
    ]  # fmt: skip


def _scope(entry: Counterexample) -> list[str]:
    return [
        f"shortest  for integers {entry.scope.low} to {entry.scope.high}, "
        f"{counted(entry.scope.size, 'element')} per sort",
    ]


def _no_shorter_lasso(entry: Counterexample) -> list[str]:
    sought = f"of {counted(entry.scope.high - 1, 'transaction')}"
    if "row_at" in {function.name for function in entry.system().functions}:
        sought = (
            f"of every choice of lock sets, in every order, {sought} and "
            f"{counted(entry.scope.size, 'row')} without common writes"
        )
    return [
        f"The search visits every state {sought}. Steps are those of stem and loop.",
    ]


def assumptions_page(assumptions: dict[str, Any]) -> str:
    """Return the page of numbered assumptions."""
    lines = [
        "# Assumptions", "",
        "| | says | kept by | without it | used by |", "| --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for name, entry in assumptions.items():
        users = ", ".join(f"[{t.id}]({t.id}.md)" for t in THEOREMS if name in t.assumes)
        broken = f"[{entry['without']}]({entry['without']}.md)"
        lines.append(f"| {name} | {entry['says']} | {entry['kept_by']} | {broken} | {users} |")
    return "\n".join([*lines, ""])


def readme_page() -> str:
    """Return the index of theorems and counterexamples."""
    lines = [
        "# Proofs", "",
        "Each theorem is proved by induction, so it holds for any number of transactions, rows and "
        "steps and for any interleaving. Theorems of progress hold in every weakly fair run. Each "
        "refuted statement has a shortest run. "
        "`make prove` does all of it again (a minute or two); `paraply prove --solver kernel` does "
        "it without a solver (seconds).", "",
        "| | claim | obligations | assumes | delimited by | in the group model (P49) |",
        "| --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for entry in THEOREMS:
        limits = ", ".join(f"[{c}]({c}.md)" for c in entry.delimited_by)
        assumed = ", ".join(entry.assumes) or "–"
        lines.append(
            f"| [{entry.id}]({entry.id}.md) | {_kind(entry)}{entry.claim} | "
            f"{obligation_count(entry)} | "
            f"{assumed} | {limits} | {standing_cell(entry.standing)} |"
        )
    lines += ["", "| | refuted, as expected | steps | source |", "| --- | --- | --- | --- |"]
    lines += [
        f"| [{entry.id}]({entry.id}.md) | {_kind(entry)}{entry.title} | {entry.steps} | "
        f"{entry.source} |"
        for entry in COUNTEREXAMPLES
    ]
    lines += [
        "", "[ASSUMPTIONS.md](ASSUMPTIONS.md) says what each assumption is and what breaks without "
        "it. `prose.toml`, `assumptions.toml`, `history.toml` and `TRUST.md` are written by hand, "
        "`counterexamples.json` by `python -m ci.pages.proofs.pages --search`, `witnesses.json` (a "
        "run to each action and to each situation that must be reachable) by `python -m "
        "ci.pages.proofs.witnesses`; the pages and `manifest.toml` are generated.",
        "", "## Three judges", "",
        "The obligations of a theorem: each invariant holds initially, each action preserves it, "
        "together they imply the claim. Tests show that the premises do not contradict each other. "
        "Each obligation is judged by Z3, by cvc5 from the same text, and by a kernel of about a "
        "thousand lines of Python (`paraply/models/kernel/`) that imports neither. "
        "For each there is a certificate "
        "(`certificates/`, made by `python -m paraply.models.judging.certificates`): which "
        "instances of which hypotheses contradict the negated goal. "
        "Instances of what is given follow from it, so a wrong "
        "certificate can prove nothing that is false; the kernel refutes them with a search "
        "for truth values, congruence and integer differences, or leaves the obligation undecided. "
        "Tests tamper with certificates and with obligations, fuzz the kernel against both solvers "
        "and break the kernel to see the fuzz notice it.", "",
        "Stability: every obligation, with other random seeds and with the assertions in other "
        "orders (`python -m paraply.proving.stability`):", "",
        *table(stored_stability()), "",
        *seconds_section(),
        "", "[DROPPING.md](DROPPING.md) says what happens to the proofs when a guard, an "
        "assumption or an invariant is left out; [FOUND.md](FOUND.md), for which statements a "
        "machine finds the invariants by itself.", "",
        "## Response rule", "",
        "A theorem of progress has a rank, compared from its first number to the last. None is "
        "negative while the goal is to come. In each state some case holds. Its helpful action is "
        "enabled, and lowers the rank or reaches the goal. Every other action lowers the rank, "
        "reaches the goal, or keeps the rank, the case and the arguments of the helpful action. "
        "Weak fairness: with each choice of parameters, an action that stays possible is taken in "
        "the end. The rule is proved in [`coq/Response.v`](coq/Response.v); the theorems in Coq "
        "are about all fair runs.", "",
        "## Coq", "",
        "`make coq` writes every system as a Coq file and has Coq check it: definitions, a lemma "
        "for each obligation, and for each statement a theorem about **all runs** that rests on no "
        "axiom. [`coq/Foundation.v`](coq/Foundation.v) is written by hand: runs, the rule of "
        "invariants, and a checker of ground refutations with its proof. So is "
        "[`coq/Response.v`](coq/Response.v). The definitions "
        "(`coq/M_*.v`) are what a reviewer compares with a model; they are compared byte for byte "
        "with what the model yields, and the theorems, by name, statement and number, with "
        "`coq/claims.txt`. The lemmas are made from the certificates and not kept. There a "
        "chosen function is an argument of the step, so what the models mean by choice is Coq's "
        "own. A reader who trusts Coq and has read the definitions need not trust the "
        "obligations, the kernel or the solvers.", "",
        *coq_table(), "",
        "## The front end, compared with itself", "",
        *front_end_section(), "",
        "## What is trusted", "",
        "That the models are close enough to the servers (each page says how far); that the "
        "obligations are the right ones (`paraply/models/language/system.py`; tests compare them "
        "with the transition relation, with evaluation on plain values and, for random systems, "
        "with the states that a search reaches); and "
        "either that two independent solvers and their common printing "
        "(`paraply/models/language/smtlib.py`) "
        "do not err alike, "
        "or the kernel. Counterexamples are replayed on plain values and trust no solver; "
        "[REPLAYS.md](REPLAYS.md) names for each the run of the reference implementation that "
        "shows the same. [TRUST.md](TRUST.md) compares this with CCF, Ivy, mypyvy, IronFleet and "
        "Veil, and lists what no model here has.", "",
    ]  # fmt: skip
    return "\n".join(lines)


def front_end_section() -> list[str]:
    """Return what the two readings of a step and random systems showed."""
    readings = json.loads(READINGS.read_text(encoding="utf-8"))
    fuzzed = json.loads(FUZZED.read_text(encoding="utf-8"))
    return [
        "The definition of a step is the relation between the state before and after. "
        f"{readings['equivalences']:,} weakest preconditions, and values that responses read, are "
        "proved equivalent to those after the step, and "
        f"{readings['obligations']:,} obligations are proved again over two vocabularies; "
        f"{readings['unproved']} were left unproved ({readings['cpu_s']} CPU s of "
        "Z3, `python -m paraply.proving.readings --store`). Of "
        f"{fuzzed['systems']:,} random small systems (seed {fuzzed['seed']}), Z3 proved "
        f"{fuzzed['proved']:,} statements of {fuzzed['with_proofs']:,}. The explicit search, which "
        f"visited all states of {fuzzed['searched_to_the_end']:,} of them, found "
        f"{len(fuzzed['wrong'])} false (`python -m tests.models.random_systems --systems "
        f"{fuzzed['systems']} --store proofs/random_systems.json`).",
    ]


def _kind(entry: Theorem | Counterexample) -> str:
    return "(progress) " if entry.kind == "progress" else ""


def coq_table() -> list[str]:
    """Return Coq's results as a table."""
    lines = [
        "| Coq file | theorems | obligations | lines | CPU s |",
        "| --- | --- | --- | --- | --- |",
    ]
    for module, row in stored_coq().items():
        cells = (row["theorems"], row["obligations"], f"{row['lines']:,}", row["cpu_s"])
        link = f"[{module}](coq/{module}.v)"
        lines.append(f"| {link} | {' | '.join(map(str, cells))} |")
    return lines


def pages() -> dict[str, str]:
    """Return every generated page by source path."""
    prose, assumptions, runs = _load("prose.toml"), _load("assumptions.toml"), stored_runs()
    made = {
        "proofs/README.md": readme_page(),
        "proofs/manifest.toml": manifest(),
        "proofs/ASSUMPTIONS.md": assumptions_page(assumptions),
        "proofs/DROPPING.md": dropping_page(),
        "proofs/FOUND.md": found_page(),
        "proofs/REPLAYS.md": replays_page(),
    }
    for entry in THEOREMS:
        made[f"proofs/{entry.id}.md"] = theorem_page(entry, prose[entry.id], assumptions)
    for counter in COUNTEREXAMPLES:
        made[f"proofs/{counter.id}.md"] = counterexample_page(counter, runs[counter.id])
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Check, write or search; exit code 1 if stale."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    if arguments[:1] == ["--search"]:
        search(arguments[1:])
        return 0
    return pages_main("ci.pages.proofs.pages", pages(), arguments)


if __name__ == "__main__":
    sys.exit(main())
