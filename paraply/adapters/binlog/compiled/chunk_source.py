"""A log's bytes for kernels and decoder."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paraply.adapters.binlog.source import Source

CHUNK_BYTES = 1 << 20
_PIECE_BYTES = 1 << 18
"""Read at once: new memory for more would cost as much as the copy."""
BUFFER_BYTES_MAX = 32 << 20
"""The decoder reads longer transactions piecewise."""


class ChunkSource(Source):
    """A read-ahead source with one position for scanner and decoder.

    ``offset`` is the next unread byte's.
    """

    def __init__(
        self, inner: Source, *, chunk_bytes: int = CHUNK_BYTES, bytes_max: int = BUFFER_BYTES_MAX
    ) -> None:
        self.name = inner.name
        self.compression = inner.compression
        self.resumes = inner.resumes
        self.offset = inner.offset
        self.at_end = False
        self.data: NDArray[np.uint8] = np.zeros(chunk_bytes, np.uint8)
        self.begin = 0
        self.end = 0
        self._inner = inner
        self._chunk_bytes = chunk_bytes
        self._bytes_max = max(bytes_max, chunk_bytes)

    def read(self, count: int) -> bytes:
        """Return up to ``count`` next bytes."""
        have = min(count, self.end - self.begin)
        data = self.data[self.begin : self.begin + have].tobytes()
        self.begin += have
        self.offset += have
        if have < count:
            # Unbuffered bytes pass through; a block skips from the head to its begin.
            more = self._inner.read(count - have)
            self.offset = self._inner.offset
            data = data + more if data else more
        return data

    def peek(self, count: int) -> bytes:
        """Return up to ``count`` next bytes, unconsumed."""
        if self.end - self.begin < count:
            self.fill()
        return self.data[self.begin : min(self.end, self.begin + count)].tobytes()

    def skip_to(self, position: int) -> None:
        """Consume the buffer up to index ``position``."""
        self.offset += position - self.begin
        self.begin = position

    def fill(self) -> bool:
        """Extend the buffer; return False at the end or limit.

        Damage raises only where the bytes run out.
        """
        kept = self.end - self.begin
        size = len(self.data)
        if kept + self._chunk_bytes // 2 > size:
            if size >= self._bytes_max:
                return False
            size = min(self._bytes_max, 2 * size)
        target = self.data if size == len(self.data) else np.zeros(size, np.uint8)
        target[:kept] = self.data[self.begin : self.end]
        self.data = target
        self.begin, self.end = 0, kept
        wanted = min(size - kept, self._chunk_bytes)
        end = kept
        while piece := self._inner.read(min(_PIECE_BYTES, kept + wanted - end)):
            self.data[end : end + len(piece)] = np.frombuffer(piece, np.uint8)
            end += len(piece)
        self.end = end
        self.at_end = end < kept + wanted
        return end > kept

    def close(self) -> None:
        """Close the underlying stream."""
        self._inner.close()
