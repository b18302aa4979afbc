"""Fingerprints of values and states.

A state's fingerprint sums its rows' fingerprints modulo 2^128, so unchanged rows need no record.
Exclusive or would cancel equal rows.

Error: different states differ in some row by d copies. Its keyed hash is uniform over 2^128 values,
so the sums agree with probability gcd(d, 2^128) / 2^128, at most |d| / 2^128; with a key |d| = 1.
"""

from __future__ import annotations

from hashlib import blake2b

from paraply.properties.two_logs.commits import Key, Value

BITS = 128
MODULUS = 1 << BITS


def fingerprint(secret: bytes, *parts: object) -> int:
    """Return the keyed hash, 1 to 2^128 - 1; 0 is the absent row."""
    digest = blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=16, key=secret)
    return int.from_bytes(digest.digest(), "little") or 1


def weight_of_copies(key: Key, copies: Value) -> int:
    """Return the summand of a row's copies."""
    return copies * key % MODULUS


def error_bound(source_states: int, target_states: int, copies: int = 1) -> float:
    """Return a bound on the probability of colliding sums.

    ``copies``: largest difference in copies.
    """
    return min(1.0, source_states * target_states * max(1, copies) / MODULUS)
