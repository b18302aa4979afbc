"""Checksums and digests of bytes, anywhere in an array."""

from __future__ import annotations

import zlib
from itertools import product

import numpy as np

from paraply.adapters.binlog.compiled.hashing import crc32, crc32_tables, mix_bytes
from paraply.adapters.binlog.compiled.rows_kernel import image_digest

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


def test_images_of_tables_with_other_columns_have_other_digests():
    # ADD COLUMN: (1, NULL) before it and (NULL, NULL, 1) after it hold the same value bytes.
    seed, seen, images = np.uint64(0), set(), 0
    for count in range(1, 12):
        for nulls in product((0, 1), repeat=count):
            bitmap = np.packbits(np.array(nulls, np.uint8), bitorder="little")
            for value in range(3):
                values = np.full(count - sum(nulls), value, np.uint8)
                if value and not len(values):
                    continue
                image = np.concatenate([bitmap, values])
                seen.add(int(image_digest(image, 0, len(image), count, seed)))
                images += 1
    assert len(seen) == images > 10_000
