"""Collation sort keys: equal bytes for equal strings.

Certification needs only equality, so Unicode's data folds case and accents. Contractions and
language-specific expansions (``_de_pb_``, ``_sv_``) are not modelled.
"""

from __future__ import annotations

import unicodedata


def sort_key(value: str, collation: str) -> bytes:
    """Return a key whose equality is that of ``collation``.

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
    """Return whether trailing spaces count (``binary``, UCA 9.0)."""
    return not collation or collation == "binary" or "_0900_" in collation


def is_accent_sensitive(collation: str) -> bool:
    """Return whether accents count."""
    return "_as_" in collation or collation.endswith("_cs")
