"""``proofs/REPLAYS.md``: counterexamples on the reference implementation."""

from __future__ import annotations

from functools import cache

from ci.pages.proofs.reference_runs import RUNS
from ci.pages.proofs.replays import ReferenceRun, Shown, shown
from paraply.counterexamples.workload_arguments import command_line, workload_words
from paraply.models.claims.claim import Counterexample
from paraply.models.claims.refuted import COUNTEREXAMPLES
from paraply.vocabulary.counting import counted


@cache
def _shown(identifier: str) -> Shown:
    counter = next(one for one in COUNTEREXAMPLES if one.id == identifier)
    entry = RUNS[identifier]
    return shown(entry, counter, entry.run())


def command(entry: ReferenceRun) -> str:
    """Return the command that repeats the run."""
    who = ["--mutant", entry.mutant] if entry.mutant else ["--subject", entry.subject]
    words = workload_words(entry.system, entry.scope)
    choices = ["--program", entry.program, "--property", entry.breaks]
    return command_line(["paraply", "replay", *who, *words, *choices])


def reference_section(counter: Counterexample) -> list[str]:
    """Return a counterexample's section."""
    if counter.elsewhere:
        return ["## Elsewhere", "", counter.elsewhere, ""]
    entry, found = RUNS[counter.id], _shown(counter.id)
    lines = ["## Reference implementation", "", "```", command(entry), "```", ""]
    lines += [f"Breaks `{entry.breaks}`: {found.violations[0]}.", ""]
    if entry.because:
        lines += [f"{entry.because[0].upper()}{entry.because[1:]}.", ""]
    return [*lines, *_held_against(counter, found)]


def _held_against(counter: Counterexample, found: Shown) -> list[str]:
    if found.followed is None:
        return [f"Not read as steps of the specification: {RUNS[counter.id].unread}.", ""]
    values = ", ".join(f"{name}={value}" for name, value in found.followed.broken_for.items())
    sentences = [
        f"As steps of `{counter.system().name}`, it makes `{counter.statement}` false "
        f"for {values} after {counted(found.followed.broken_after or 0, 'observed step')}."
    ]
    sentences += [
        f"`{name}` follows it to its end."
        if followed.refused is None
        else f"`{name}` does not allow step {followed.steps + 1}, `{followed.refused}`."
        for name, followed in found.sound.items()
    ]
    sentences += [f"It is no run of {reason}." for reason in found.assumes.values()]
    return [" ".join(sentences), ""]


def replays_page() -> str:
    """Return the table of all counterexamples."""
    shown_by_runs = [one for one in COUNTEREXAMPLES if not one.elsewhere]
    read = [one for one in shown_by_runs if RUNS[one.id].reading is not None]
    lines = [
        "# Counterexamples on the reference implementation", "",
        f"Each of these {len(shown_by_runs)} of {len(COUNTEREXAMPLES)} counterexamples was found "
        "in a specification. It is "
        "also a run of the reference implementation, with the faulty dialect, option or mutant. "
        "The run breaks the named property. "
        f"{len(read)} runs are also read as steps of the specifications "
        "(`paraply/models/recorded/`). The faulty specification allows the run up to the point "
        "where its statement is false, and the proved one rejects it. Otherwise the table has the "
        "reason. The pages of the counterexamples have the commands; those of the others say what "
        "shows them outside of the model.", "",
        "| | on the reference | breaks | the statement | read by |",
        "| --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for counter in shown_by_runs:
        entry = RUNS[counter.id]
        name = f"[{counter.id}]({counter.id}.md)"
        reading = f"`{entry.reading_name}`" if entry.reading else entry.unread
        lines.append(
            f"| {name} | {_what(entry)} | `{entry.breaks}` | `{counter.statement}` | {reading} |"
        )
    return "\n".join([*lines, ""])


def _what(entry: ReferenceRun) -> str:
    if entry.mutant:
        return f"mutant `{entry.mutant}` of `{entry.system.name}`"
    return f"`{entry.subject}` with `{entry.fault}`"
