"""Bounds-checked little-endian fields of one event."""

from __future__ import annotations


class MalformedError(ValueError):
    """Bytes that contradict their event's layout."""


class Cursor:
    """A position in bytes; raises ``MalformedError`` past the end."""

    __slots__ = ("data", "position")

    def __init__(self, data: bytes, position: int = 0) -> None:
        self.data = data
        self.position = position

    @property
    def remaining(self) -> int:
        """Return the number of bytes left."""
        return len(self.data) - self.position

    def take(self, count: int) -> bytes:
        """Return the next ``count`` bytes."""
        start = self.position
        end = start + count
        if count < 0 or end > len(self.data):
            raise MalformedError(
                f"a field of {count} bytes at byte {start} reaches past the end ({len(self.data)})"
            )
        self.position = end
        return self.data[start:end]

    def rest(self) -> bytes:
        """Return all bytes left."""
        return self.take(self.remaining)

    def unsigned(self, width: int) -> int:
        """Return an unsigned integer of ``width`` bytes."""
        start = self.position
        end = start + width
        if 0 < width and end <= len(self.data):  # As ``take``, without a call for each field.
            self.position = end
            return int.from_bytes(self.data[start:end], "little")
        return int.from_bytes(self.take(width), "little")

    def signed(self, width: int) -> int:
        """Return a signed integer of ``width`` bytes."""
        return int.from_bytes(self.take(width), "little", signed=True)

    def packed(self) -> int:
        """Return a length-encoded integer (net_field_length), 1 to 9 bytes."""
        first = self.unsigned(1)
        if first < 251:
            return first
        if first == 252:
            return self.unsigned(2)
        if first == 253:
            return self.unsigned(3)
        if first == 254:
            return self.unsigned(8)
        raise MalformedError(f"0x{first:02x} does not start a length-encoded integer")

    def packed_bytes(self) -> bytes:
        """Return a string after its length-encoded length."""
        return self.take(self.packed())

    def varlen(self) -> int:
        """Return an unsigned integer of MySQL's serialization library.

        The first byte's trailing ones count following bytes.
        """
        first = self.unsigned(1)
        follow = 0
        while follow < 8 and first >> follow & 1:
            follow += 1
        if follow == 8:
            return self.unsigned(8)
        value = first | self.unsigned(follow) << 8
        return value >> (follow + 1)

    def varlen_signed(self) -> int:
        """Return a zigzag integer of that library."""
        raw = self.varlen()
        return -(raw >> 1) - 1 if raw & 1 else raw >> 1

    def terminated(self) -> bytes:
        """Return and skip the bytes before NUL."""
        end = self.data.find(b"\0", self.position)
        if end < 0:
            raise MalformedError(f"no end of the string at byte {self.position}")
        text = self.data[self.position : end]
        self.position = end + 1
        return text
