"""Collation sort keys: equal bytes where the collation calls two strings equal.

Servers compute weights from tables of several hundred kilobytes; for certification only equality
matters, so case and accents are folded by Unicode's own data. Contractions and the expansions
of single languages (``_de_pb_``, ``_sv_`` and their like) are not modelled.
"""

from __future__ import annotations

import unicodedata


def sort_key(value: str, collation: str) -> bytes:
    """Return a key that is equal for two strings exactly where ``collation`` says equal.

    >>> sort_key("C", "utf8mb4_general_ci") == sort_key("c ", "utf8mb4_general_ci")
    True
    >>> sort_key("C", "utf8mb4_0900_as_cs") == sort_key("c", "utf8mb4_0900_as_cs")
    False
    """
    if not is_no_pad(collation):
        value = value.rstrip(" ")
    if not collation or collation == "binary" or collation.endswith("_bin"):
        return value.encode()
    folded = unicodedata.normalize("NFD", value)
    if not is_accent_sensitive(collation):
        folded = "".join(c for c in folded if not unicodedata.combining(c))
    if not collation.endswith("_cs"):
        folded = unicodedata.normalize("NFD", folded.casefold())
    return folded.encode()


def is_no_pad(collation: str) -> bool:
    """Return whether trailing spaces count: ``binary`` and the collations of UCA 9.0."""
    return not collation or collation == "binary" or "_0900_" in collation


def is_accent_sensitive(collation: str) -> bool:
    """Return whether accents count; old case-insensitive collations ignore them."""
    return "_as_" in collation or collation.endswith("_cs")
