"""Which changes of a table without a key are of one row, by the images in log order.

An update leaves the row that it finds with another image, so the chain of images names the row.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field, is_dataclass
from hashlib import blake2b

from paraply.vocabulary.log import ABSENT, UNKNOWN, RowChange, RowImage


@dataclass(slots=True)
class RowIdentities:
    """Numbers rows in log order.

    Of equal rows the oldest is taken: a log does not show which one was changed, and a server
    that scans the table meets it first. Rows that are older than the log have numbers below 0.
    """

    unfollowed: set[str] = field(default_factory=set)
    """Tables of which some change is not known in full."""
    _inserted: int = 0
    _older: int = 0
    _rows: dict[tuple[str, bytes], list[int]] = field(default_factory=dict)
    """Table and digest of an image -> numbers of the rows that have it, as a heap."""

    def number_of(self, row: RowChange) -> int | None:
        """Return the number of a changed row, None if one of its values is unknown."""
        before, after = row.before, row.after
        if before is not None and after is not None and ABSENT in after:
            after = _filled_in(after, before)
        if not (_is_whole(before) and _is_whole(after)):
            self.unfollowed.add(row.table)
            return None
        number = self._insert() if before is None else self._find(row.table, before)
        if after is not None:
            heapq.heappush(self._rows.setdefault((row.table, _digest(after)), []), number)
        return number

    def forget(self) -> None:
        """Forget all rows, because a statement may have changed them."""
        self._rows.clear()

    def _insert(self) -> int:
        self._inserted += 1
        return self._inserted

    def _find(self, table: str, image: RowImage) -> int:
        place = (table, _digest(image))
        rows = self._rows.get(place)
        if rows is None:
            self._older += 1
            return -self._older
        number = heapq.heappop(rows)
        if not rows:
            del self._rows[place]
        return number


def _digest(image: RowImage) -> bytes:
    return blake2b(repr(image).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _is_whole(image: RowImage | None) -> bool:
    # A record instead of a value (a partial JSON update) contains the change only.
    return image is None or not any(
        value is ABSENT or value is UNKNOWN or is_dataclass(value) for value in image
    )


def _filled_in(after: RowImage, before: RowImage) -> RowImage:
    """Return a minimal after image with the values that it omits, as far as they are logged."""
    padded: Sequence[object] = (*before, *(ABSENT for _ in range(len(after) - len(before))))
    return tuple(old if new is ABSENT else new for new, old in zip(after, padded, strict=False))
