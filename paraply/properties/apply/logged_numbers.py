"""The numbers of a log that replicas apply."""

from __future__ import annotations

from dataclasses import dataclass

from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import logged_numbers
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedNumberWrong(Violation):
    """A log has a number that no source writes."""

    transaction: TransactionId
    numbers: tuple[int, int]
    last: int

    def __str__(self) -> str:
        return (
            f"the log has T{self.transaction} with last_committed {self.numbers[0]} and "
            f"sequence_number {self.numbers[1]}, after sequence_number {self.last}"
        )


def numbers_of_a_whole_log(history: History) -> bool:
    """Replicas apply a whole log with last_committed and sequence_number."""
    return (
        history.header.tier is EvidenceTier.CONTROLLED_RUN
        and not history.header.recorded_by.startswith("paraply conform")
        and logged_numbers(history)
    )


@always(
    of=numbers_of_a_whole_log,
    source="WL#7165: sequence_number, last_committed",
    witness=lambda history: sum(one.timestamp is not None for one in history.transactions),
)
def logged_numbers_rise_above_last_committed(history: History) -> tuple[LoggedNumberWrong, ...]:
    """In each file of a log the sequence numbers rise, each above its last_committed.

    A view change has (0, 0); numbers then begin again.
    """
    found = []
    last: dict[int, int] = {}
    for one in history.transactions:
        if one.timestamp is None:
            continue
        before, now = last.get(one.clock, 0), one.timestamp.sequence_number
        is_above = now > before and one.timestamp.last_committed < now
        if not one.timestamp.is_view_change and not is_above:
            found.append(
                LoggedNumberWrong(
                    transaction=one.id,
                    numbers=(one.timestamp.last_committed, now),
                    last=before,
                )
            )
        last[one.clock] = now
    return tuple(found)
