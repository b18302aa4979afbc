"""What a program promises, one run of it, and the record of that run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from paraply.properties.two_logs.judgement import End
from paraply.verifying.result import VerifyResult
from paraply.vocabulary.verdict import Verdict

END_WORDS = {End.EQUAL: "equal", End.BEHIND: "behind", End.DIFFERENT: "different"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One run.

    Attributes:
        folder: empty, and searchable by the servers' accounts.
        seed: of the clients' choices.
        transactions: of all clients together.
        kill: the target server, or the applier, and all its processes get SIGKILL under load, and
            start again.
    """

    folder: Path
    seed: int
    transactions: int
    kill: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """An applier with a way to run it.

    Attributes:
        name: as an argument and in the page.
        promise: what its documents say about order, wholeness and repetition, and where.
        required: the level that the promise means, a key of ``REQUIREMENTS``.
        expected: "holds", or "violated" for a control or a known finding.
        packages: what ``ci/servers --only`` installs for it.
        missing: why it cannot run on this machine; empty if it can.
        version: of program and servers.
        run: performs a task and judges the logs.
        in_ci: part of ``make live-tests``; the others run in ``make live``.
        can_kill: a task may ask for a kill.
    """

    name: str
    promise: str
    required: str
    expected: str
    packages: str
    missing: Callable[[], str]
    version: Callable[[], str]
    run: Callable[[Task], VerifyResult]
    in_ci: bool = False
    can_kill: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What one run showed, as stored in docs/programs.jsonl.

    Attributes:
        faults: what was done to it, in words; empty for a healthy run.
        prefixes: target states that are states of the source.
        commits: target states.
        torn: target states that hold part of a source transaction.
        went_back: target states before an earlier one.
        repeated: rows written again, or that went back to an older version.
        witness: of the first missed level; empty where the required level was reached.
    """

    program: str
    version: str
    seed: int
    transactions: int
    faults: str
    required: str
    expected: str
    verdict: str
    level: str
    end: str
    prefixes: int
    commits: int
    torn: int
    went_back: int
    repeated: int
    witness: str

    @property
    def is_as_expected(self) -> bool:
        """Return whether the verdict is the declared one."""
        return self.verdict == self.expected


def record_of(program: Program, task: Task, result: VerifyResult) -> Record:
    """Return the record of a judged run."""
    delivery = result.delivery
    if result.unknown:
        first = result.unknown[0]
        witness = f"{first.subject}: {first.reason}"
    else:
        witness = result.witnesses[0].text if result.witnesses else ""
    return Record(
        program=program.name,
        version=program.version(),
        seed=task.seed,
        transactions=result.source.transactions,
        faults="kill -9" if task.kill else "",
        required=program.required,
        expected=program.expected,
        verdict=result.verdict.word,
        level=result.level.word,
        end=END_WORDS[result.end],
        prefixes=result.states.prefixes,
        commits=result.states.commits,
        torn=result.states.torn,
        went_back=delivery.state_went_back,
        repeated=delivery.key_went_back + delivery.rewritten,
        witness="" if result.verdict is Verdict.HOLDS else witness,
    )
