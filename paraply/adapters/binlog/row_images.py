"""Row image decoding by cached plans per definition and bitmaps.

One ``struct`` call reads neighbouring plain columns.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from paraply.adapters.binlog.column_types import WireColumn, struct_code
from paraply.adapters.binlog.cursor import MalformedError
from paraply.adapters.binlog.temporal import Reader
from paraply.vocabulary.log import ABSENT, RowImage

_PLAN_STEPS_MAX = 4096
"""Limit of steps in a decoder's cached plans."""

Unpack = Callable[[bytes, int], tuple[object, ...]]
_Step = tuple[Unpack | None, int, Reader | None, tuple[object, ...]]
"""A run of plain columns (unpack, bytes), a reader, or constants."""


def present_columns(bitmap: bytes, count: int) -> list[int]:
    """Return the set bits, least significant first."""
    return [index for index in range(count) if bitmap[index >> 3] >> (index & 7) & 1]


class ImageDecoder:
    """Decodes one table's images with the same columns."""

    def __init__(
        self, columns: Sequence[WireColumn], readers: Sequence[Reader], bitmap: bytes
    ) -> None:
        self._columns = columns
        self._readers = readers
        self._present = present_columns(bitmap, len(columns))
        self._null_bytes = (len(self._present) + 7) // 8
        self._plans: dict[bytes, list[_Step]] = {}
        self._steps_kept = 0

    def decode(self, buffer: bytes, position: int) -> tuple[RowImage, int]:
        """Return one image and the next position.

        Raises ``MalformedError`` past the end.
        """
        start = position + self._null_bytes
        nulls = buffer[position:start]
        plan = self._plans.get(nulls)
        if plan is None:
            plan = self._plan(nulls)
        position = start
        values: list[object] = []
        try:
            for unpack, size, reader, constants in plan:
                if unpack is not None:
                    values += unpack(buffer, position)
                    position += size
                elif reader is not None:
                    value, position = reader(buffer, position)
                    values.append(value)
                else:
                    values += constants
        except (struct.error, IndexError):
            raise MalformedError("a row reaches past the end of its event") from None
        if position > len(buffer):
            raise MalformedError("a row reaches past the end of its event")
        return tuple(values), position

    def _plan(self, nulls: bytes) -> list[_Step]:
        if len(nulls) < self._null_bytes:
            raise MalformedError("a row's NULL bits reach past the end of its event")
        null_columns = {
            column
            for index, column in enumerate(self._present)
            if nulls[index >> 3] >> (index & 7) & 1
        }
        present = set(self._present)
        steps: list[_Step] = []
        codes = ""
        constants: list[object] = []

        def flush() -> None:
            nonlocal codes, constants
            if codes:
                run = struct.Struct("<" + codes)
                steps.append((run.unpack_from, run.size, None, ()))
                codes = ""
            if constants:
                steps.append((None, 0, None, tuple(constants)))
                constants = []

        for index, column in enumerate(self._columns):
            if index not in present or index in null_columns:
                if codes:
                    flush()
                constants.append(None if index in present else ABSENT)
                continue
            if constants:
                flush()
            code = struct_code(column)
            if code:
                codes += code
            else:
                flush()
                steps.append((None, 0, self._readers[index], ()))
        flush()
        if self._steps_kept + len(steps) <= _PLAN_STEPS_MAX:
            self._plans[nulls] = steps
            self._steps_kept += len(steps)
        return steps
