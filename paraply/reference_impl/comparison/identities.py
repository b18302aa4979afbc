"""Which changes of a table without a key are of one row, by the images in log order.

An update leaves the row that it finds with another image, so the chain of images names the row.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

from paraply.vocabulary.log import RowChange, image_digest


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
        images = [image for image in (row.before, row.whole_after) if image is not None]
        digests = [found for image in images if (found := image_digest(image)) is not None]
        if len(digests) < len(images):
            self.unfollowed.add(row.table)
            return None
        number = self._insert() if row.before is None else self._find((row.table, digests[0]))
        if row.after is not None:
            heapq.heappush(self._rows.setdefault((row.table, digests[-1]), []), number)
        return number

    def forget(self) -> None:
        """Forget all rows, because a statement may have changed them."""
        self._rows.clear()

    def _insert(self) -> int:
        self._inserted += 1
        return self._inserted

    def _find(self, place: tuple[str, bytes]) -> int:
        rows = self._rows.get(place)
        if rows is None:
            self._older += 1
            return -self._older
        number = heapq.heappop(rows)
        if not rows:
            del self._rows[place]
        return number
