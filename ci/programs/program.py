"""What a program promises, one run of it, and the record of that run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ci.programs.readers import Readers
from paraply.properties.two_logs.judgement import End
from paraply.verifying.result import VerifyResult
from paraply.vocabulary.verdict import Verdict

LARGE_MIN = 100_000
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
        readers: what readers of the target saw at each kill.
    """

    folder: Path
    seed: int
    transactions: int
    kill: bool = False
    readers: Readers = field(default_factory=Readers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """An applier with a way to run it.

    Attributes:
        name: as an argument and in the page.
        promise: what its documents say about order, wholeness and repetition, and where; or what
            its design means, where no document says it.
        required: the level that the promise means, a key of ``REQUIREMENTS``.
        expected: "holds", or "violated" for a control or a known finding.
        packages: what ``ci/servers --only`` installs for it.
        missing: why it cannot run on this machine; empty if it can.
        version: of program and servers.
        run: performs a task and judges the logs.
        in_ci: part of ``make live-tests``; the others run in ``make live``.
        can_kill: a task may ask for a kill.
        readers_stay: declared that no crash takes readers back to an earlier state.
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
    readers_stay: bool = False


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
        snapshots: target states that are a snapshot of the source, but no prefix of its log.
        initial_copy: target transactions of the initial copy.
        reader_rounds: crashes with a reader.
        reader_went_back: crashes after which the reader saw an earlier state than before.
        reader_lost_max: most transactions that the reader saw before a crash and not after it.
        readers_stay: declared that ``reader_went_back`` is 0.
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
    snapshots: int = 0
    initial_copy: int = 0
    reader_rounds: int = 0
    reader_went_back: int = 0
    reader_lost_max: int = 0
    readers_stay: bool = False

    @property
    def is_large(self) -> bool:
        """Return whether it counts in the search for false alarms."""
        return self.transactions >= LARGE_MIN

    @property
    def is_as_expected(self) -> bool:
        """Return whether the verdict, and what readers saw, are as declared."""
        return self.verdict == self.expected and not (self.readers_stay and self.reader_went_back)


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
        snapshots=result.states.snapshot_count,
        initial_copy=result.names.initial_copy if result.names is not None else 0,
        reader_rounds=task.readers.rounds,
        reader_went_back=len(task.readers.lost),
        reader_lost_max=max(task.readers.lost, default=0),
        readers_stay=program.readers_stay,
    )
