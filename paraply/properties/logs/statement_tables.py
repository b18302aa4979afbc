"""Tables and schemas named in DDL text.

Not a parser: it reads only the places of table names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from paraply.vocabulary.log import DDL_CHARACTERS_MAX, STATEMENT_CHARACTERS_MAX

_TOKEN = re.compile(
    r"""
    (?P<skip>\s+|--[\s][^\n]*|\#[^\n]*|/\*(?!!|M!).*?(?:\*/|(?P<open_comment>\Z))|/\*M?!\d*|\*/)
  | (?P<text>(?P<mark_of_text>['"])
      (?:\\.|(?P=mark_of_text){2}|(?!(?P=mark_of_text))[^\\])*
      (?:(?P=mark_of_text)|(?P<open_text>\\?\Z)))
  | (?P<quoted>`(?:[^`]|``)*(?:`|(?P<open_name>\Z)))
  | (?P<word>[\w$\u0080-\uffff]+)
  | (?P<mark>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_OPEN = ("open_comment", "open_text", "open_name")

_MAINTAINS = frozenset({"ANALYZE", "CACHE", "CHECK", "CHECKSUM", "FLUSH", "OPTIMIZE", "REPAIR"})
_NAME_FOLLOWS = frozenset({"TABLE", "TABLES", "VIEW", "SEQUENCE", "REFERENCES"})
_READ_FOLLOWS = frozenset({"FROM", "JOIN"})
_OBJECTS = frozenset({"DATABASE", "INDEX", "SCHEMA", "TABLE", "TRIGGER", "VIEW"})
_BODY_NOT_RUN = frozenset({"PROCEDURE", "FUNCTION", "EVENT", "PACKAGE"})
_BEFORE_NAME = frozenset({"IF", "NOT", "EXISTS", "ONLY", "IGNORE", "NO_WRITE_TO_BINLOG", "LOCAL"})


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementTables:
    """One statement's lower-case names.

    Folding as ``lower_case_table_names`` may name too much, never too little.
    """

    verb: str
    """First word: ``CREATE``, ``ALTER``, ``DROP``, ..."""
    tables: frozenset[str] = frozenset()
    only_read: frozenset[str] = frozenset()
    """Those among them whose definition and rows stay as they are."""
    schemas: frozenset[str] = frozenset()
    """Created, dropped or altered."""
    target: str = ""
    """The first-named table of CREATE, ALTER, TRUNCATE, CREATE INDEX."""
    creates_table: bool = False
    """``CREATE [OR REPLACE] TABLE``, not temporary."""
    fills: bool = False
    """``CREATE TABLE ... SELECT``."""
    if_not_exists: bool = False
    keeps_rows: bool = False
    """No row or unique key changes."""
    replaced: frozenset[str] = frozenset()
    """Tables whose rows come, go or move without being logged: TRUNCATE, DROP, RENAME, ..."""
    cut: bool = False
    """Names may be missing: cut statement, or open quote or comment (ignoring
    NO_BACKSLASH_ESCAPES).
    """


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    is_name: bool  # A quoted name: never a keyword.

    @property
    def keyword(self) -> str:
        return "" if self.is_name else self.text.upper()


@lru_cache(64)
def get_statement_tables(statement: str, default_schema: str) -> StatementTables:
    """Return the tables and schemas that ``statement`` names.

    Stored programs' bodies do not count; triggers count for their table. GRANT and CREATE USER name
    none.
    """
    tokens, is_open = _tokens_of(statement)
    words = [token.keyword for token in tokens]
    verb = words[0] if words else ""
    tables: dict[str, None] = {}
    read: dict[str, None] = {}
    schemas: set[str] = set()
    head = words[:8]
    if any(word in _BODY_NOT_RUN for word in head):
        return StatementTables(verb=verb)
    is_trigger = "TRIGGER" in head
    names_after_on = is_trigger or "INDEX" in head[:6]
    is_view = next(filter(_OBJECTS.__contains__, words), "") == "VIEW"
    selects = "SELECT" in words
    position = 0
    while position < len(tokens):
        word = words[position]
        position += 1
        if word in ("DATABASE", "SCHEMA") and position <= 5:
            name, position = _read_name(tokens, _skip_options(words, position))
            if name:
                schemas.add(name[-1].lower())
        elif _is_followed_by_tables(words, position - 1, names_after_on, selects):
            is_read = verb in _MAINTAINS or word == "LIKE" or (is_view and word != "VIEW")
            names = read if is_read else tables
            position = _read_tables(tokens, words, position, default_schema, names)
            if is_trigger and tables:
                break
    return StatementTables(
        verb=verb,
        tables=frozenset(tables | read),
        only_read=frozenset(read.keys() - tables.keys()),
        schemas=frozenset(schemas),
        target=next(iter(tables), ""),
        creates_table=verb == "CREATE" and "TABLE" in head[:4] and "TEMPORARY" not in head,
        fills=verb == "CREATE" and selects,
        if_not_exists=_has_if_not_exists(words),
        keeps_rows=is_trigger or _keeps_rows(tokens, words),
        replaced=frozenset(tables) if _replaces_rows(words) else frozenset(),
        cut=is_open
        or len(statement) == STATEMENT_CHARACTERS_MAX
        or len(statement) >= DDL_CHARACTERS_MAX,
    )


_HARMLESS = frozenset(
    {
        "ALGORITHM",
        "AUTO_INCREMENT",
        "AVG_ROW_LENGTH",
        "CHECKSUM",
        "COMMENT",
        "DELAY_KEY_WRITE",
        "DISABLE",
        "ENABLE",
        "ENGINE",
        "FORCE",
        "KEY_BLOCK_SIZE",
        "LOCK",
        "MAX_ROWS",
        "MIN_ROWS",
        "PACK_KEYS",
        "ROW_FORMAT",
        "STATS_AUTO_RECALC",
        "STATS_PERSISTENT",
        "STATS_SAMPLE_PAGES",
    }
)
"""ALTER TABLE clauses without effect."""
_RENAMED_PARTS = frozenset({"COLUMN", "INDEX", "KEY"})
_MOVES_PARTITIONS = frozenset(
    {
        ("CONVERT", "PARTITION"),
        ("CONVERT", "TABLE"),
        ("DROP", "PARTITION"),
        ("EXCHANGE", "PARTITION"),
        ("TRUNCATE", "PARTITION"),
    }
)
_ADDS_NO_KEY = frozenset({"INDEX", "KEY", "FULLTEXT", "SPATIAL", "FOREIGN", "CHECK"})


def _keeps_rows(tokens: list[_Token], words: list[str]) -> bool:
    if words[:1] == ["CREATE"]:
        head = words[1:8]
        return "VIEW" in head or ("INDEX" in head and "UNIQUE" not in head and "TABLE" not in head)
    if words[:1] == ["DROP"]:
        return "VIEW" in words[1:3] or "TRIGGER" in words[1:3]
    if words[:1] != ["ALTER"] or "TABLE" not in words[:4]:
        return False
    at = _skip_options(words, words.index("TABLE") + 1)
    _, at = _read_name(tokens, at)
    clause: list[str] = []
    depth = 0
    for position in range(at, len(tokens) + 1):
        ends = position == len(tokens)
        text = "" if ends or tokens[position].is_name else tokens[position].text
        depth += (text == "(") - (text == ")")
        if ends or (text == "," and not depth):
            if clause and not _clause_keeps_rows(clause):
                return False
            clause = []
        else:
            clause.append(words[position])
    return True


def _replaces_rows(words: list[str]) -> bool:
    if "TEMPORARY" in words[:4]:
        return False
    if words[:1] == ["ALTER"]:
        pairs = set(pairwise(words))
        renames = any(one == "RENAME" and other not in _RENAMED_PARTS for one, other in pairs)
        return renames or "TABLESPACE" in words or not pairs.isdisjoint(_MOVES_PARTITIONS)
    return (
        words[:1] == ["TRUNCATE"]
        or words[:3] == ["CREATE", "OR", "REPLACE"]
        or (words[:1] in (["DROP"], ["RENAME"]) and words[1:2] in (["TABLE"], ["TABLES"]))
    )


def _clause_keeps_rows(words: list[str]) -> bool:
    if "ENGINE" in words:
        after = [word for word in words[words.index("ENGINE") + 1 :] if word != "="]
        if after[:1] != ["INNODB"]:
            return False
    if words[:1] == ["ADD"]:
        if words[1:2] != ["CONSTRAINT"]:
            return not _ADDS_NO_KEY.isdisjoint(words[1:2])
        return not {"PRIMARY", "UNIQUE"} & {*words[2:4]}
    return words[0] in _HARMLESS or words[:2] == ["DROP", "FOREIGN"]


def _tokens_of(statement: str) -> tuple[list[_Token], bool]:
    tokens = []
    is_open = False
    for match in _TOKEN.finditer(statement):
        kind = match.lastgroup
        is_open |= any(match[name] is not None for name in _OPEN)
        if kind in ("skip", None):
            continue
        text = match.group()
        if kind == "quoted":
            tokens.append(_Token(text[1:-1].replace("``", "`"), True))
        elif kind == "text":
            tokens.append(_Token("", True))
        else:
            tokens.append(_Token(text, False))
    return tokens, is_open


def _is_followed_by_tables(
    words: list[str], position: int, names_after_on: bool, selects: bool
) -> bool:
    word = words[position]
    before = words[position - 1] if position else ""
    if word in _NAME_FOLLOWS:
        return True
    if word == "TRUNCATE":
        return position == 0 and words[1:2] != ["TABLE"]
    if word == "ON":
        return names_after_on and before not in ("DELETE", "UPDATE")
    if word in _READ_FOLLOWS:
        return selects
    if word == "LIKE":
        return words[0] == "CREATE" and not selects
    if word in ("TO", "AS"):
        # RENAME TABLE a TO b; ALTER TABLE a RENAME TO b; but RENAME COLUMN a TO b is no table.
        return before == "RENAME" or (words[0] == "RENAME" and word == "TO")
    if word == "RENAME":
        following = words[position + 1] if position + 1 < len(words) else ""
        return position > 0 and following not in ("TO", "AS", "COLUMN", "INDEX", "KEY", "=")
    return False


def _read_tables(
    tokens: list[_Token],
    words: list[str],
    position: int,
    default_schema: str,
    tables: dict[str, None],
) -> int:
    while True:
        name, after = _read_name(tokens, _skip_options(words, position))
        if not name:
            return position
        schema = name[0] if len(name) > 1 else default_schema
        tables[f"{schema}.{name[-1]}".lower()] = None
        position = after
        if position >= len(tokens) or tokens[position].text != ",":
            return position
        position += 1


def _read_name(tokens: list[_Token], position: int) -> tuple[tuple[str, ...], int]:
    if position >= len(tokens) or not _is_name(tokens[position]):
        return (), position
    first = tokens[position].text
    if (
        position + 2 < len(tokens)
        and tokens[position + 1].text == "."
        and not tokens[position + 1].is_name
        and _is_name(tokens[position + 2])
    ):
        return (first, tokens[position + 2].text), position + 3
    return (first,), position + 1


def _is_name(token: _Token) -> bool:
    if token.is_name:
        return token.text != ""
    return token.text[:1].isalnum() or token.text[:1] in "_$" or token.text[:1] > "\u007f"


def _skip_options(words: list[str], position: int) -> int:
    while position < len(words) and words[position] in _BEFORE_NAME:
        position += 1
    return position


def _has_if_not_exists(words: list[str]) -> bool:
    return any(words[at : at + 3] == ["IF", "NOT", "EXISTS"] for at in range(min(len(words), 8)))
