"""Errors of binary logs, each with its remedy."""

from __future__ import annotations

from paraply.vocabulary.errors import register

UNREADABLE_FILE = register(
    "P101",
    "cannot be read: {reason}",
    "check that the path exists and that this user may read it",
)
NOT_A_BINARY_LOG = register(
    "P102",
    "is not a binary or relay log: {reason}",
    "give the files named in the .index file, or the output of mysqlbinlog -v",
)
ENCRYPTED_LOG = register(
    "P103",
    "is encrypted ({scheme}); it can be read by its server only",
    "fetch it decrypted with mysqlbinlog --read-from-remote-server --raw",
)
TRUNCATED_LOG = register(
    "P104",
    "ends inside an event: {what} needs {needed} bytes, {available} are left",
    "copy the file again once the server has closed it (FLUSH BINARY LOGS), "
    "or accept that the last transaction is missing",
)
CHECKSUM_MISMATCH = register(
    "P105",
    "{event} has CRC32 0x{stored:08x}, its bytes give 0x{computed:08x}",
    "the file is damaged from here on: fetch it again from the server",
)
IMPOSSIBLE_LENGTH = register(
    "P106",
    "{event} claims {length} bytes; an event has {length_min} to {length_max}",
    "the file is damaged from here on, or was not written by a server: fetch it again",
)
MALFORMED_EVENT = register(
    "P107",
    "{event} cannot be decoded: {reason}",
    "the file is damaged from here on, or uses a format this decoder does not know; "
    "compare with mysqlbinlog -v",
)
EVENT_TOO_LARGE = register(
    "P111",
    "{event} does not fit into the memory allowed: {reason}",
    "allow more with --memory, if the machine has it",
)
UNSUPPORTED_FORMAT = register(
    "P108",
    "has a format this decoder does not read: {reason}",
    "binary logs of MySQL 5.0 and MariaDB 5.1 or newer are read",
)
DAMAGED_COMPRESSION = register(
    "P109",
    "the {compression} stream is damaged: {reason}",
    "unpack the file by hand, and fetch it again if that fails too",
)
UNDECODED_ROWS = register(
    "P110",
    "rows of {table} were skipped: {reason}",
    "nothing is known of these rows; decode the file with the server's own mysqlbinlog -v",
)
NOT_THE_NEXT_FILE = register(
    "P112",
    "is not the file that follows {previous}",
    "give each file of a log once and in order, and judge parts with a gap between them apart",
)
MIXED_INPUT = register(
    "P309",
    "{text} is a text dump and {binary} is not",
    "audit them apart",
)
