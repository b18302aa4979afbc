"""Types of file options.

``type=JsonFile`` declares an output once; :func:`claim_files` checks all outputs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator

from paraply.reporting.files import APPENDED, claim


class InputPath(str):
    """An input path."""


class ClassFile(InputPath):
    """``FILE:CLASS``, a class in a Python file."""


class OutputFile(str):
    """An output file; ``-`` is standard output."""

    kind = ""


class JsonFile(OutputFile):
    """A JSON document."""

    kind = "JSON"


class JunitFile(OutputFile):
    """JUnit XML."""

    kind = "JUnit"


class SarifFile(OutputFile):
    """A SARIF log."""

    kind = "SARIF"


class HtmlFile(OutputFile):
    """An HTML page."""

    kind = "HTML"


class LogFile(OutputFile):
    """A file to append lines to."""

    kind = APPENDED


class OutputFolder(str):
    """An output folder."""


class OutputPath(str):
    """A file or folder, which the command checks."""


MASTER = "auto"


def add_spark_arguments(parser: argparse.ArgumentParser, *, what: str, out: str) -> None:
    """Add ``--spark``, ``--master`` and ``--out``; ``what`` and ``out`` say what they do."""
    parser.add_argument("--spark", action="store_true", help=what)
    parser.add_argument(
        "--master",
        metavar="URL",
        default=MASTER,
        help="with --spark: auto, none, or Spark's master (default: %(default)s)",
    )
    parser.add_argument("--out", type=OutputFolder, metavar="DIR", help=f"with --spark: {out}")


def needs_spark(arguments: argparse.Namespace, *others: str) -> str:
    """Return why an option is refused without ``--spark``, or empty.

    ``others`` are options of the command that also go with it, None by default.
    """
    if arguments.spark:
        return ""
    for option, default in (("out", None), *((one, None) for one in others), ("master", MASTER)):
        if getattr(arguments, option) != default:
            return f"--{option.replace('_', '-')} goes with --spark"
    return ""


def add_force_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--force``."""
    if any(_writes(action.type) for action in parser._actions):
        parser.add_argument(
            "--force",
            action="store_true",
            help="replace any existing output",
        )


def claim_files(arguments: argparse.Namespace) -> None:
    """Check outputs against inputs; ``ParaplyError`` as ``files.claim``."""
    outputs, folders = {}, []
    for name, value in vars(arguments).items():
        for one in _values(value):
            if isinstance(one, OutputFile):
                outputs[f"--{name.replace('_', '-')}"] = (str(one), one.kind)
            elif isinstance(one, OutputFolder):
                folders.append(str(one))
    inputs = inputs_of(arguments)
    claim(outputs, folders=folders, inputs=inputs, force=getattr(arguments, "force", False))


def inputs_of(arguments: argparse.Namespace) -> list[str]:
    """Return the input paths."""
    return [
        one.rpartition(":")[0] if isinstance(one, ClassFile) else str(one)
        for value in vars(arguments).values()
        for one in _values(value)
        if isinstance(one, InputPath)
    ]


def outputs_of(arguments: argparse.Namespace) -> list[str]:
    """Return the names of output files."""
    return [
        str(one)
        for value in vars(arguments).values()
        for one in _values(value)
        if isinstance(one, OutputFile)
    ]


def _writes(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, OutputFile | OutputFolder | OutputPath)


def _values(value: object) -> Iterator[object]:
    if isinstance(value, Iterable) and not isinstance(value, str):
        yield from value
    else:
        yield value
