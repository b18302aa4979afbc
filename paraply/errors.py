"""Errors of the command line: wrong usage, missing input, reports that cannot be written."""

from __future__ import annotations

from paraply.vocabulary.errors import register

USAGE = register("P301", "{reason}", "see {command} --help")
REPORT_NOT_WRITTEN = register(
    "P302",
    "the report cannot be written: {reason}",
    "choose a folder that exists and that you may write to",
)
MALFORMED_WORKERS = register(
    "P303",
    "'{text}' is not a list of worker counts: {reason}",
    "write positive whole numbers with commas, as --workers 1,2,4,8",
)
UNKNOWN_APPLIER = register(
    "P304", "there is no applier '{name}'{suggestion}", "choose among {known}"
)
STDIN_TWICE = register(
    "P305", "standard input is named {times} times", "name - once, or write the input to files"
)
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
ENGINE_UNAVAILABLE = register(
    "P308",
    "the {engine} engine cannot audit this: {reason}",
    "use --engine auto, which takes the fastest engine that can",
)
MIXED_INPUT = register(
    "P309",
    "{text} is a text dump and {binary} is not: they cannot be read as one stream",
    "audit the text dumps and the binary logs apart",
)
OUTPUT_IS_INPUT = register(
    "P311",
    "the output is also an input of this run",
    "give the output another name",
)
OUTPUT_NOT_OURS = register(
    "P312",
    "the file exists, and paraply did not write it as a report of this kind",
    "give the output another name, or add --force to replace the file",
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
    "use --exhaustive, which enumerates runs; semi_sync is one that names its states",
)
NO_SHARED_FOLDER = register(
    "P328",
    "there is no place for what is carried from part to part: {reason}",
    "name a folder that all workers reach with --out",
)
NOT_IN_PARTS = register(
    "P329",
    "the input cannot be audited in parts: {reason}",
    "leave --spark out",
)
