"""XXH64 against published digests."""

from __future__ import annotations

import pytest

from paraply.reference_impl.certification.xxh64 import xxh64


def test_xxh64_of_a_row_is_the_number_in_the_servers_own_assertion():
    assert xxh64("PRIMARY½test½4t1½21½1".encode()) == 340395741608101502


@pytest.mark.parametrize(
    ("data", "seed", "digest"),
    [
        (b"", 0, 0xEF46DB3751D8E999),
        (b"a", 0, 0xD24EC4F1A98C6E5B),
        (b"abc", 0, 0x44BC2CF5AD770999),
        # 39 bytes: one stripe of 32 and each kind of rest.
        (b"Nobody inspects the spammish repetition", 0, 0xFBCEA83C8A378BF1),
    ],
)
def test_xxh64_matches_the_published_digest(data, seed, digest):
    assert xxh64(data, seed) == digest


def test_xxh64_seed_changes_the_digest():
    assert xxh64(b"abc", 1) != xxh64(b"abc", 0)
