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
