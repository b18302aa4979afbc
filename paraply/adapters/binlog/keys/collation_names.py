"""Names, aliases and defaults of character sets and collations."""

from __future__ import annotations

from paraply.adapters.binlog.schema.ddl import CharacterOptions

_DEFAULTS = {
    "big5": "big5_chinese_ci", "binary": "binary", "cp932": "cp932_japanese_ci",
    "dec8": "dec8_swedish_ci", "eucjpms": "eucjpms_japanese_ci", "euckr": "euckr_korean_ci",
    "gb18030": "gb18030_chinese_ci", "gb2312": "gb2312_chinese_ci", "gbk": "gbk_chinese_ci",
    "hp8": "hp8_english_ci", "latin1": "latin1_swedish_ci", "latin5": "latin5_turkish_ci",
    "sjis": "sjis_japanese_ci", "swe7": "swe7_swedish_ci", "tis620": "tis620_thai_ci",
    "ujis": "ujis_japanese_ci",
}  # fmt: skip
_WITHOUT_ONE_DEFAULT = frozenset({"utf8mb4", "utf8mb3", "ucs2", "utf16", "utf32", ""})
"""MySQL and MariaDB 10: general_ci, but 0900_ai_ci of utf8mb4 in MySQL 8; MariaDB 11: uca1400."""


def charset_name(name: str) -> str:
    """Return the lower-case name, resolving ``utf8``."""
    name = name.lower()
    return "utf8mb3" if name == "utf8" else name


def collation_name(name: str, charset: str = "") -> str:
    """Return the full name of ``utf8_`` and ``uca1400_`` collations."""
    name = name.lower()
    if name.startswith("utf8_"):
        return "utf8mb3_" + name.removeprefix("utf8_")
    if name.startswith("uca1400_"):
        return f"{charset}_{name}" if charset else ""
    return name


def mariadb_collation(name: str) -> str:
    """Return what a name of MySQL's means in MariaDB 11.4 and newer, empty if not measured.

    Its tailorings under MySQL's names of languages have other weights than MySQL's.
    """
    if "_0900_" not in name:
        return name
    if name == "utf8mb4_0900_bin":
        return "utf8mb4_nopad_bin"
    prefix, _, strength = name.partition("_0900_")
    return f"utf8mb4_uca1400_nopad_{strength}" if prefix == "utf8mb4" else ""


def charset_of(collation: str) -> str:
    """Return a collation's character set."""
    return collation.partition("_")[0]


def default_collation(charset: str) -> str:
    """Return the default collation, empty where servers differ."""
    if charset in _WITHOUT_ONE_DEFAULT:
        return ""
    return _DEFAULTS.get(charset, f"{charset}_general_ci")


def dumped_collation(charset: str) -> str:
    """Return the default that SHOW CREATE TABLE omits; any other default is printed."""
    return default_collation(charset) or f"{charset}_general_ci"


def settled_collation(given: CharacterOptions, default: CharacterOptions) -> tuple[str, str]:
    """Return (charset, collation), either possibly empty: unknown."""
    charset = "" if given.charset == "default" else charset_name(given.charset)
    collation = "" if given.collation == "default" else given.collation
    if collation:
        collation = collation_name(collation, charset or default.charset)
        return charset_of(collation) or charset or default.charset, collation
    if charset:
        return charset, default_collation(charset)
    return default.charset, default.collation
