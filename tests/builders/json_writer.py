"""Binary JSON for logs that tests write: small containers while they fit, large ones otherwise."""

from __future__ import annotations

import struct


def _length(count: int) -> bytes:
    data = bytearray()
    while True:
        data.append(count & 0x7F | (0x80 if count > 0x7F else 0))
        count >>= 7
        if not count:
            return bytes(data)


def _scalar(value: object) -> tuple[int, bytes]:
    if value is None or isinstance(value, bool):
        return 4, bytes([{None: 0, True: 1, False: 2}[value]])
    if isinstance(value, int):
        for kind, layout, low, high in (
            (5, "<h", -(1 << 15), 1 << 15),
            (7, "<i", -(1 << 31), 1 << 31),
            (9, "<q", -(1 << 63), 1 << 63),
            (10, "<Q", 0, 1 << 64),
        ):
            if low <= value < high:
                return kind, struct.pack(layout, value)
    if isinstance(value, float):
        return 11, struct.pack("<d", value)
    if isinstance(value, str):
        data = value.encode()
        return 12, _length(len(data)) + data
    if isinstance(value, tuple):  # (column type, bytes): an opaque value
        return 15, bytes([value[0]]) + _length(len(value[1])) + value[1]
    raise TypeError(f"no JSON for {value!r}")


def _container(value: dict[str, object] | list[object], width: int) -> bytes:
    is_array = isinstance(value, list)
    keys = [] if is_array else [key.encode() for key in value]
    children = list(value if is_array else value.values())
    body = bytearray()
    entries_at = 2 * width + len(keys) * (width + 2)
    data_at = entries_at + len(children) * (1 + width)
    key_entries = bytearray()
    for key in keys:
        key_entries += (data_at + len(body)).to_bytes(width, "little")
        key_entries += struct.pack("<H", len(key))
        body += key
    value_entries = bytearray()
    for child in children:
        kind, data = _encode(child)
        value_entries.append(kind)
        if kind in (4, 5, 6) or (width == 4 and kind in (7, 8)):
            value_entries += data.ljust(width, b"\0")
        else:
            value_entries += (data_at + len(body)).to_bytes(width, "little")
            body += data
    size = data_at + len(body)
    head = len(children).to_bytes(width, "little") + size.to_bytes(width, "little")
    return head + bytes(key_entries) + bytes(value_entries) + bytes(body)


def _encode(value: object) -> tuple[int, bytes]:
    if not isinstance(value, dict | list):
        return _scalar(value)
    base = 2 if isinstance(value, list) else 0
    try:
        return base, _container(value, 2)
    except OverflowError:
        return base + 1, _container(value, 4)


def encode_json(value: object) -> bytes:
    """Encode a document; tuples (column type, bytes) are opaque values."""
    kind, data = _encode(value)
    return bytes([kind]) + data
