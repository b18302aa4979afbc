"""Final reads: after all confirmed writes, every server shows the same sets and counters."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from paraply.properties.isolation.breaches import shown
from paraply.properties.isolation.judging import Finding, finding_of
from paraply.properties.isolation.phenomena import Phenomenon
from paraply.properties.isolation.whole_reads import WholeRead, content, final_reads
from paraply.properties.registry import Violation
from paraply.vocabulary.client_history import ClientHistory, DataType, Ending, Key


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalReadsDiffer(Violation):
    """Two servers end with different contents."""

    reader: str
    other_reader: str
    key: Key
    only_here: tuple[Any, ...]
    """Elements, or the value of a counter."""
    only_there: tuple[Any, ...]

    def __str__(self) -> str:
        return (
            f"in the end {self.reader} read {self.key} with {shown(self.only_here)} and "
            f"{self.other_reader} with {shown(self.only_there)} instead"
        )


FINAL_READS = Phenomenon(
    label="final reads",
    fact="servers_agree_in_the_end",
    meaning="after all confirmed writes, two servers show different contents",
    breach=FinalReadsDiffer,
)


def judge_agreement(history: ClientHistory) -> Finding:
    """Compare the final reads of all servers; writes of unknown outcome are left out."""
    is_counter = history.data_type is DataType.COUNTER
    unknown = {
        (key, None if is_counter else value)
        for one in history.transactions
        if one.ending is Ending.INDETERMINATE
        for _, key, value in one.writes
    }
    breaches = []
    compared = 0
    for key, reads in final_reads(history).items():
        if (key, None) in unknown:
            continue
        first, *others = reads.values()
        ignored = {element for other_key, element in unknown if other_key == key}
        for other in others:
            compared += 1
            here, there = (_known(history, one, ignored) for one in (first, other))
            if here != there:
                breaches.append(
                    FinalReadsDiffer(
                        reader=first.where, other_reader=other.where, key=key,
                        only_here=_only(first, here - there, is_counter=is_counter),
                        only_there=_only(other, there - here, is_counter=is_counter),
                    )
                )  # fmt: skip
    return finding_of(
        FINAL_READS, breaches, compared > 0, "no two servers were read after all confirmed writes"
    )


def _known(history: ClientHistory, read: WholeRead, ignored: set[Any]) -> Counter[Any]:
    found = content(history, read.value)
    return Counter({element: count for element, count in found.items() if element not in ignored})


def _only(read: WholeRead, elements: Counter[Any], *, is_counter: bool) -> tuple[Any, ...]:
    return (read.value,) if is_counter else tuple(elements)
