"""Errors of the command line: wrong usage, missing input, reports that cannot be written."""

from __future__ import annotations

from vocabulary.errors import register

USAGE = register("P301", "{reason}", "see {command} --help")
INPUT_MISSING = register(
    "P302", "cannot be opened: {reason}", "give the path of a file that can be read, or - for stdin"
)
REPORT_NOT_WRITTEN = register(
    "P303",
    "the report cannot be written: {reason}",
    "choose a folder that exists and that you may write to",
)
MALFORMED_WORKERS = register(
    "P304",
    "'{text}' is not a list of worker counts: {reason}",
    "write positive whole numbers with commas, as --workers 1,2,4,8",
)
UNKNOWN_APPLIER = register(
    "P305", "there is no applier '{name}'{suggestion}", "choose among {known}"
)
STDIN_TWICE = register(
    "P306", "standard input is named {times} times", "name - once, or write the input to files"
)
STDOUT_TWICE = register(
    "P307",
    "{first} and {second} both go to standard output",
    "give at most one report the file name -",
)
NOTHING_READ = register(
    "P308",
    "nothing could be read: {reason}",
    "give a binary log, a relay log, or the text that mysqlbinlog or mariadb-binlog prints",
)
NOT_INSTALLED = register(
    "P309",
    "this needs the library {library}, which is not installed",
    "install it with: pip install 'paraply[{extra}]'",
)
