"""Programs: the choices of one run.

Choices are unsigned LEB128 numbers (seven bits a byte, least significant first). Text is unpadded
base64url.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable

from paraply.vocabulary.errors import ParaplyError, register

MALFORMED_PROGRAM = register(
    "P503",
    "this is not a program: {reason}",
    "copy the whole word that followed --program in the report",
)

CHOICE_BYTES_MAX = 9
"""63 bits."""


def encode_program(choices: Iterable[int]) -> bytes:
    """Encode choices; ``ValueError`` outside ``[0, 2**63)``.

    >>> encode_program([0, 3, 300]).hex()
    '0003ac02'
    """
    encoded = bytearray()
    for choice in choices:
        if not 0 <= choice < 1 << 7 * CHOICE_BYTES_MAX:
            raise ValueError(f"a choice lies in [0, 2**63): got {choice}")
        while choice >= 0x80:
            encoded.append(choice & 0x7F | 0x80)
            choice >>= 7
        encoded.append(choice)
    return bytes(encoded)


def decode_program(program: bytes) -> tuple[int, ...]:
    """Decode choices; P503 names the malformed byte."""
    choices: list[int] = []
    value = shift = 0
    for offset, byte in enumerate(program):
        value |= (byte & 0x7F) << shift
        if byte & 0x80:
            shift += 7
            if shift >= 7 * CHOICE_BYTES_MAX:
                raise _malformed(f"the choice that ends at byte {offset} is too large")
        else:
            if byte == 0 and shift:
                raise _malformed(f"the choice that ends at byte {offset} is padded")
            choices.append(value)
            value = shift = 0
    if shift:
        raise _malformed(f"it ends inside a choice, after {len(program)} bytes")
    return tuple(choices)


def format_program(program: bytes) -> str:
    """Return a program as text.

    >>> format_program(encode_program([0, 3, 300]))
    'AAOsAg'
    """
    return base64.urlsafe_b64encode(program).rstrip(b"=").decode("ascii")


def parse_program(text: str) -> bytes:
    """Parse :func:`format_program` text; else P503."""
    try:
        program = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        program = b""
    # Python skips foreign characters, so compare with the canonical text.
    if format_program(program) != text:
        raise _malformed("not base64url")
    return program


def _malformed(reason: str) -> ParaplyError:
    return ParaplyError(MALFORMED_PROGRAM, reason=reason)
