"""Errors of ``paraply verify``."""

from __future__ import annotations

from paraply.vocabulary.errors import register

MALFORMED_MAP = register(
    "P370",
    "'{text}' is not a mapping: {reason}",
    "write --map shop.orders=dw.orders_v2 or --map shop.orders=dw.orders_v2:id,total=amount",
)
MALFORMED_MAP_FILE = register(
    "P371",
    "the mapping cannot be used: {reason}",
    "see docs/verify.md for the form of a mapping file",
)
NO_COMMON_TABLE = register(
    "P372",
    "no table of the source's log is in the target's log; source: {source}; target: {target}",
    "name the pairs of tables with --map SOURCE=TARGET",
)
NO_ROWS = register(
    "P373",
    "the {side}'s log has no row changes to judge",
    "give a log with row events (binlog_format=ROW) of the time to judge",
)
MIXED_LOGS = register(
    "P374",
    "{one} is a {is_one} and {other} is a {is_other}: they cannot be read as one log",
    "give files of one kind for each side",
)
