"""XXH64, the hash of write-set rows (transaction_write_set_extraction).

Source: xxHash fast digest algorithm, revision 0.1.1. A collision causes a false conflict, never a
missed one.
"""

from __future__ import annotations

_MASK = 0xFFFF_FFFF_FFFF_FFFF
_PRIME_1 = 0x9E37_79B1_85EB_CA87
_PRIME_2 = 0xC2B2_AE3D_27D4_EB4F
_PRIME_3 = 0x1656_67B1_9E37_79F9
_PRIME_4 = 0x85EB_CA77_C2B2_AE63
_PRIME_5 = 0x27D4_EB2F_1656_67C5


def xxh64(data: bytes, seed: int = 0) -> int:
    """Return an unsigned 64-bit digest."""
    position = 0
    if len(data) >= 32:
        lanes = [seed + _PRIME_1 + _PRIME_2, seed + _PRIME_2, seed, seed - _PRIME_1]
        while position + 32 <= len(data):
            for lane in range(4):
                start = position + 8 * lane
                word = int.from_bytes(data[start : start + 8], "little")
                lanes[lane] = _round(lanes[lane] & _MASK, word)
            position += 32
        digest = sum(_rotate(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True))
        for lane in lanes:
            digest = ((digest ^ _round(0, lane)) * _PRIME_1 + _PRIME_4) & _MASK
    else:
        digest = (seed + _PRIME_5) & _MASK
    return _finish((digest + len(data)) & _MASK, data[position:])


def _finish(digest: int, rest: bytes) -> int:
    position = 0
    while position + 8 <= len(rest):
        word = int.from_bytes(rest[position : position + 8], "little")
        digest = (_rotate(digest ^ _round(0, word), 27) * _PRIME_1 + _PRIME_4) & _MASK
        position += 8
    if position + 4 <= len(rest):
        word = int.from_bytes(rest[position : position + 4], "little")
        digest = (_rotate(digest ^ word * _PRIME_1 & _MASK, 23) * _PRIME_2 + _PRIME_3) & _MASK
        position += 4
    for byte in rest[position:]:
        digest = _rotate(digest ^ byte * _PRIME_5 & _MASK, 11) * _PRIME_1 & _MASK
    digest = (digest ^ digest >> 33) * _PRIME_2 & _MASK
    digest = (digest ^ digest >> 29) * _PRIME_3 & _MASK
    return digest ^ digest >> 32


def _round(accumulator: int, word: int) -> int:
    return _rotate((accumulator + word * _PRIME_2) & _MASK, 31) * _PRIME_1 & _MASK


def _rotate(word: int, by: int) -> int:
    return (word << by | word >> (64 - by)) & _MASK
