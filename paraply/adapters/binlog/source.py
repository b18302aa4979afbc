"""Log byte streams: plain, gzip, zstandard or standard input."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from typing import IO, BinaryIO, cast

import zstandard

from paraply.adapters.binlog.errors import DAMAGED_COMPRESSION, UNREADABLE_FILE
from paraply.adapters.remote_files import open_range
from paraply.vocabulary.errors import ParaplyError

STANDARD_INPUT = "-"
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_BUFFER_BYTES = 1 << 20
_ZSTD_INPUT_BYTES = 1 << 10
_ZSTD_WINDOW_BYTES_MAX = 1 << 27  # zstd's own default limit for streams


class Source:
    """A named forward-only byte stream.

    ``offset`` counts decompressed bytes. Damage raises ``ParaplyError`` P109 where it occurs.
    """

    resumes = False
    """Continues another source of the file."""

    def __init__(self, name: str, stream: BinaryIO, compression: str = "plain") -> None:
        self.name = name
        self.compression = compression
        self.offset = 0
        self._stream = stream
        self._ahead = b""

    def read(self, count: int) -> bytes:
        """Return up to ``count`` next bytes; memory follows the data."""
        if self._ahead:
            data = self._ahead[:count]
            self._ahead = self._ahead[count:]
            data += self._read_stream(count - len(data))
        else:
            data = self._read_stream(count)
        self.offset += len(data)
        return data

    def peek(self, count: int) -> bytes:
        """Return up to ``count`` next bytes, unconsumed."""
        if len(self._ahead) < count:
            self._ahead += self._read_stream(count - len(self._ahead))
        return self._ahead[:count]

    def _read_stream(self, count: int) -> bytes:
        try:
            if count <= _BUFFER_BYTES:
                data = self._stream.read(count)
                if len(data) == count or not data:
                    return data
                chunks = [data]
            else:
                chunks = []
            missing = count - sum(map(len, chunks))
            while missing:
                data = self._stream.read(min(missing, _BUFFER_BYTES))
                if not data:
                    break
                chunks.append(data)
                missing -= len(data)
            return b"".join(chunks)
        except (gzip.BadGzipFile, EOFError, zlib.error, zstandard.ZstdError) as fault:
            raise ParaplyError(
                DAMAGED_COMPRESSION,
                where=f"{self.name}:{self.offset}",
                compression=self.compression,
                reason=str(fault),
            ) from None
        except OSError as fault:
            raise ParaplyError(
                UNREADABLE_FILE, where=f"{self.name}:{self.offset}", reason=_reason(fault)
            ) from None

    def close(self) -> None:
        """Close the stream, except standard input."""
        if self.name != STANDARD_INPUT:
            self._stream.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _reason(fault: OSError) -> str:
    return (fault.strerror or str(fault) or type(fault).__name__).lower()


def open_source(name: str, *, buffer_bytes: int = _BUFFER_BYTES) -> Source:
    """Open a file or ``-``; magic bytes select the compression.

    Raises ``ParaplyError`` P101 if unreadable.
    """
    try:
        if name == STANDARD_INPUT:
            return source_of_stream(name, sys.stdin.buffer)
        return source_of_stream(name, open_range(name, buffer_bytes=buffer_bytes))
    except OSError as fault:
        raise ParaplyError(UNREADABLE_FILE, where=name, reason=_reason(fault)) from None


def source_of_stream(name: str, raw: BinaryIO) -> Source:
    """Wrap a byte stream with decompression."""
    buffered = raw if isinstance(raw, io.BufferedReader) else _Rebuffered(raw)
    magic = buffered.peek(4)[:4]
    if magic.startswith(_GZIP_MAGIC):
        # GzipFile reads on over concatenated members, which is what rotating archivers write.
        unzipped = io.BufferedReader(
            cast("io.RawIOBase", gzip.GzipFile(fileobj=cast("IO[bytes]", buffered))), _BUFFER_BYTES
        )
        return Source(name, cast("BinaryIO", unzipped), "gzip")
    if magic == _ZSTD_MAGIC:
        unpacked = io.BufferedReader(_ZstdFrames(buffered), _BUFFER_BYTES)
        return Source(name, cast("BinaryIO", unpacked), "zstd")
    return Source(name, cast("BinaryIO", buffered))


class _ZstdFrames(io.RawIOBase):
    """Detects a cut frame, unlike the library's reader; small inputs bound output (32 MiB)."""

    def __init__(self, packed: io.BufferedReader) -> None:
        self._packed = packed
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES_MAX)
        self._frame = self._decompressor.decompressobj()
        self._input = b""
        self._in_frame = False
        self._output = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast("bytearray", buffer))
        while not self._output:
            piece = self._input or self._packed.read(_ZSTD_INPUT_BYTES)
            self._input = b""
            if not piece:
                if self._in_frame:
                    raise zstandard.ZstdError("it ends inside a frame")
                return 0
            self._in_frame = True
            self._output = memoryview(self._frame.decompress(piece))
            if self._frame.eof:
                self._input = self._frame.unused_data
                self._frame = self._decompressor.decompressobj()
                self._in_frame = False
        count = min(len(view), len(self._output))
        view[:count] = self._output[:count]
        self._output = self._output[count:]
        return count


class _Rebuffered(io.BufferedReader):
    def __init__(self, raw: BinaryIO) -> None:
        super().__init__(cast("io.RawIOBase", _AsRaw(raw)), _BUFFER_BYTES)


class _AsRaw(io.RawIOBase):
    def __init__(self, stream: BinaryIO) -> None:
        self._inner = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast("bytearray", buffer))
        data = self._inner.read(len(view))
        view[: len(data)] = data
        return len(data)
