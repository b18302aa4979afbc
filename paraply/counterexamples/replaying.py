"""Replay a run and compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paraply.counterexamples.shrinking import Smallest
from paraply.counterexamples.workload_arguments import command_line, workload_words
from paraply.properties.registry import Property
from paraply.reference_impl.subject import Subject, Workload
from paraply.vocabulary.history import History
from paraply.vocabulary.programs import decode_program, parse_program
from paraply.vocabulary.schedule import RecordedSchedule


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Option ``index`` of ``count``."""

    label: str
    index: int
    count: int


class QuestionedSchedule(RecordedSchedule):
    """A recorded schedule that notes questions."""

    __slots__ = ("questions",)

    def __init__(self, program: Sequence[int]) -> None:
        super().__init__(program, strict=True)
        self.questions: list[Question] = []

    def choose_index(self, count: int, label: str = "") -> int:
        """Answer and note real questions."""
        index = super().choose_index(count, label)
        if count > 1:
            self.questions.append(Question(label=label, index=index, count=count))
        return index


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A repeated run; ``difference`` is empty if equal or not compared."""

    history: History
    questions: tuple[Question, ...]
    difference: str = ""


def replay(
    subject: Subject, workload: Workload, program: str, recorded: History | None = None
) -> Replay:
    """Run a program; compare with a recorded history, if any.

    Raises ``ParaplyError`` P503 for a malformed program, P501 for another subject's.
    """
    choices = decode_program(parse_program(program))
    schedule = QuestionedSchedule(choices)
    history = subject.run(schedule, workload)
    asked = len(schedule.questions)
    difference = ""
    if asked < len(choices):
        difference = f"the program has {len(choices)} choices, and the run asked for {asked}"
    elif recorded is not None:
        difference = difference_of(recorded, history)
    return Replay(history=history, questions=tuple(schedule.questions), difference=difference)


def difference_of(recorded: History, replayed: History) -> str:
    """Return the first difference, or empty."""
    for what, before, after in (
        ("transaction", recorded.transactions, replayed.transactions),
        ("event", recorded.events, replayed.events),
    ):
        for number, (one, other) in enumerate(zip(before, after, strict=False), start=1):
            if one != other:
                return f"{what} {number} differs from the one recorded"
        if len(before) != len(after):
            return f"{len(before)} {what}s were recorded, and the replay has {len(after)}"
    return ""


def replay_command(
    subject: Subject, smallest: Smallest, prop: Property, *, file: str = "", mutant: str = ""
) -> str:
    """Return the replay command for a file or program."""
    words = ["paraply", "replay"]
    if mutant:
        words.append(f"--mutant={mutant}")
    if file:
        words.append(file)
    else:
        if not mutant:
            words.append(f"--subject={subject.name}")
        words += workload_words(subject, smallest.workload)
        words.append(f"--program={smallest.program}")
    return command_line([*words, f"--property={prop.name}"])
