"""The part of ``zstandard`` that paraply uses, on the standard library of Python 3.14.

The page loads this module in the place of the compiled library.
"""

from __future__ import annotations

import io

from compression import zstd
from compression.zstd import ZstdError as ZstdError


def _options(max_window_size: int) -> dict[int, int]:
    return {zstd.DecompressionParameter.window_log_max: max_window_size.bit_length() - 1}


class ZstdDecompressor:
    """Makes decompressors with one limit of memory, in bytes."""

    def __init__(self, max_window_size: int = 1 << 27) -> None:
        self._options = _options(max_window_size)

    def decompressobj(self) -> zstd.ZstdDecompressor:
        """Return a decompressor of one frame."""
        return zstd.ZstdDecompressor(options=self._options)

    def stream_reader(self, source: bytes, *, read_across_frames: bool) -> io.RawIOBase:
        """Return a stream of all frames; it ends early where a frame is cut."""
        if not read_across_frames:
            raise NotImplementedError("one frame only")
        return _Reader(zstd.ZstdFile(io.BytesIO(source), options=self._options))


class _Reader(io.RawIOBase):
    def __init__(self, file: zstd.ZstdFile) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        try:
            data = self._file.read1(len(buffer))
        except EOFError:
            data = b""
        buffer[: len(data)] = data
        return len(data)
