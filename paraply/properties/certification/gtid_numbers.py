"""Which numbers certification gives."""

from __future__ import annotations

from dataclasses import dataclass

from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import certification
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class NumbersPassedOver(Violation):
    """A GTID leaves more free numbers below it than blocks can hold."""

    member: str
    transaction: TransactionId
    gtid: str
    free: int

    def __str__(self) -> str:
        return (
            f"{self.member} gave T{self.transaction} {self.gtid} while {self.free} numbers below "
            "it were free"
        )


def _numbers_are_given(history: History) -> int:
    return sum(bool(event.gtid) for event in history.events_of(EventKind.CERTIFIED))


@always(
    of=certification,
    source="Gtid_generator::get_next_available_gtid; group_replication_gtid_assignment_block_size",
    witness=_numbers_are_given,
    is_safety=False,
)
def gtid_numbers_leave_no_gap(history: History) -> tuple[NumbersPassedOver, ...]:
    """A GTID that certification gives leaves no number free below it, outside members' blocks.

    A number counts as used once some member certified it, or a server brought it.
    """
    block = int(history.header.options.get("block_size", 1))
    reserved = 0 if block <= 1 else block * len(history.members)
    used: dict[str, set[int]] = {}
    found = []
    for event in history.events_of(EventKind.CERTIFIED):
        source, _, text = event.gtid.rpartition(":")
        if event.transaction is None or not text.isdigit():
            continue
        numbers, number = used.setdefault(source, set()), int(text)
        is_given = not history.transaction(event.transaction).gtid and number not in numbers
        free = number - 1 - sum(one < number for one in numbers)
        if is_given and free > reserved:
            found.append(
                NumbersPassedOver(
                    member=event.member, transaction=event.transaction, gtid=event.gtid, free=free
                )
            )
        numbers.add(number)
    return tuple(found)
