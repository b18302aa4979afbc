"""Command-line errors: usage, missing input, unwritable reports."""

from __future__ import annotations

from paraply.vocabulary.errors import register

USAGE = register("P301", "{reason}", "see {command} --help")
REPORT_NOT_WRITTEN = register(
    "P302",
    "the report cannot be written: {reason}",
    "choose an existing folder with write permission",
)
MALFORMED_WORKERS = register(
    "P303",
    "'{text}' is not a list of worker counts: {reason}",
    "write numbers with commas: --workers 1,2,4,8",
)
UNKNOWN_APPLIER = register(
    "P304", "there is no applier '{name}'{suggestion}", "choose among {known}"
)
STDIN_TWICE = register("P305", "standard input is named {times} times", "name - once")
STDOUT_TWICE = register(
    "P306",
    "{first} and {second} both go to standard output",
    "give at most one report the file name -",
)
NOTHING_READ = register(
    "P307",
    "nothing could be read: {reason}",
    "{remedy}",
)
NOTHING_ARRIVED = register(
    "P380",
    "no file is complete yet",
    "wait until the server rotates the log (FLUSH BINARY LOGS), then run the same command again",
)
ENGINE_UNAVAILABLE = register(
    "P308",
    "the {engine} engine cannot audit this: {reason}",
    "use --engine auto",
)
OUTPUT_IS_INPUT = register(
    "P311",
    "the output is also an input of this run",
    "give another name",
)
OUTPUT_NOT_OURS = register(
    "P312",
    "paraply did not write this file as a report of this kind",
    "give another name, or add --force to replace it",
)
OUTPUTS_SAME = register(
    "P313",
    "{first} and {second} name the same file",
    "give each output a file of its own",
)
EXTRA_MISSING = register(
    "P314",
    "this needs the library {library}, which is not installed",
    "pip install 'paraply[{extra}]'",
)
NO_STATES = register(
    "P310",
    "subject {subject} does not name its states",
    "use --exhaustive; semi_sync names its states",
)
NOT_IN_PARTS = register(
    "P329",
    "the input cannot be audited in parts: {reason}",
    "leave --spark out",
)
