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
    if collation in ("", "binary"):
        return value.encode()
    if "_0900_" not in collation:  # PAD SPACE
        value = value.rstrip(" ")
    if collation.endswith("_bin"):
        return value.encode()
    folded = unicodedata.normalize("NFD", value)
    if "_as_" not in collation and not collation.endswith("_cs"):
        folded = "".join(c for c in folded if not unicodedata.combining(c))
    if not collation.endswith("_cs"):
        folded = unicodedata.normalize("NFD", folded.casefold())
    return folded.encode()
