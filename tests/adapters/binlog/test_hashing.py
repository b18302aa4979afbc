"""Checksums and digests of bytes, anywhere in an array."""

from __future__ import annotations

import zlib

import numpy as np

from paraply.adapters.binlog.compiled.hashing import crc32, crc32_tables, mix_bytes

DATA = np.random.default_rng(1).integers(0, 256, 320).astype(np.uint8)


def test_checksum_is_that_of_zlib_for_each_length_and_beginning():
    for start in (0, 1, 7, 8, 19):
        for end in range(start, start + 301):
            found = crc32(DATA, start, end, crc32_tables())
            assert found == zlib.crc32(DATA[start:end].tobytes()), (start, end)


def test_digest_depends_on_no_byte_before_or_after():
    seed = np.uint64(7)
    for length in range(40):
        alone = mix_bytes(seed, DATA[100 : 100 + length].copy(), 0, length)
        assert mix_bytes(seed, DATA, 100, 100 + length) == alone


def test_digest_depends_on_each_byte():
    seed, seen = np.uint64(7), set()
    for length in range(1, 24):
        for place in range(length):
            data = np.zeros(length, np.uint8)
            data[place] = 1
            seen.add(int(mix_bytes(seed, data, 0, length)))
    assert len(seen) == sum(range(1, 24))
