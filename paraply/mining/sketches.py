"""A mergeable sketch of how many different histories were seen.

A sketch is one bit set, :data:`BUCKETS` times :data:`LEVELS` bits (Flajolet and Martin 1985). The
low bits of a digest choose the bucket; the level is the number of its next zero bits, so each level
is half as likely as the one before. Merging is a bitwise or: associative, commutative and
idempotent. Any partition of the histories, and a task that ran twice, give the same sketch.

:func:`estimated` returns the most likely number. Its relative standard error is
:data:`STANDARD_ERROR` for large numbers, and smaller for small ones.
"""

from __future__ import annotations

import math

BUCKETS, LEVELS = 1024, 32
SKETCH_BYTES = BUCKETS * LEVELS // 8
"""4,096: the size that Spark's ``bitmap_or_agg`` merges."""
STANDARD_ERROR = 0.649 / math.sqrt(BUCKETS)
"""2.0 %: the Fisher information of the bits (Lang 2017, Back to the Future)."""
_BUCKET_BITS = BUCKETS.bit_length() - 1
_STEPS_MAX = 200


def seen(digest: int) -> int:
    """Return the sketch of one 64-bit digest."""
    bucket, rest = digest % BUCKETS, digest >> _BUCKET_BITS
    zeros = (rest & -rest).bit_length() - 1 if rest else LEVELS
    return 1 << (bucket * LEVELS + min(zeros, LEVELS - 1))


def as_bytes(sketch: int) -> bytes:
    """Return a sketch as :data:`SKETCH_BYTES` bytes."""
    return sketch.to_bytes(SKETCH_BYTES, "little")


def from_bytes(data: bytes) -> int:
    """Read :func:`as_bytes`; ``ValueError`` for another size."""
    if len(data) != SKETCH_BYTES:
        raise ValueError(f"a sketch has {SKETCH_BYTES} bytes, not {len(data)}")
    return int.from_bytes(data, "little")


def estimated(sketch: int) -> float:
    """Return the most likely number of different digests.

    With n digests, a bit of probability p stays zero with probability exp(-n p). The derivative of
    the likelihood falls with n, so bisection finds its root.
    """
    every_level = sum(1 << (bucket * LEVELS) for bucket in range(BUCKETS))
    ones = [(sketch >> level & every_level).bit_count() for level in range(LEVELS)]
    chances = [2.0 ** -min(level + 1, LEVELS - 1) / BUCKETS for level in range(LEVELS)]
    zero_mass = sum((BUCKETS - one) * p for one, p in zip(ones, chances, strict=True))
    if not any(ones):
        return 0.0
    if not zero_mass:
        return math.inf

    def slope(number: float) -> float:
        return (
            sum(
                one * p / math.expm1(number * p)
                for one, p in zip(ones, chances, strict=True)
                if one and number * p < 700
            )
            - zero_mass
        )

    low, high = 0.0, 1.0
    while slope(high) > 0:
        low, high = high, 2 * high
    for _ in range(_STEPS_MAX):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return high
