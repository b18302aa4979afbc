"""Options for a subject and its workload."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace

from paraply.reference_impl.subject import SIZES, Option, Subject, Workload
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.history import OptionValue

MALFORMED_OPTION = register(
    "P320",
    "--option {text}: {reason}",
    "write it as name=value; `paraply list subjects` has the options with their defaults",
)

DEFAULT = Workload()
STRICT_HELP = "a broken property of precision or speed (over-serialises) makes the exit code 1, too"


def add_workload_arguments(
    parser: argparse.ArgumentParser, drawn_to: Mapping[str, int] | None = None
) -> None:
    """Add dialect, sizes and subject options.

    Sizes that are not given are drawn up to ``drawn_to``, or have their defaults.
    """
    parser.add_argument("--dialect", default="", metavar="D", help="default: the subject's first")
    for name, meaning in (
        ("transactions", "how many are submitted"),
        ("rows", "how many rows there are to write"),
        ("members", "servers, where the subject has several"),
    ):
        unless = f"drawn, at most {drawn_to[name]}" if drawn_to else f"{getattr(DEFAULT, name)}"
        parser.add_argument(f"--{name}", type=int, metavar="N", help=f"{meaning} ({unless})")
    parser.add_argument(
        "--option",
        action="extend",
        nargs="+",
        default=[],
        metavar="NAME=VALUE",
        help="options of the subject (paraply list subjects)",
    )


def workload_of(arguments: argparse.Namespace, subject: Subject) -> Workload:
    """Return the requested workload.

    Raises ``ParaplyError`` P320 for a malformed option, P404 to P407 for an unsupported dialect,
    option or size.
    """
    workload = Workload(
        **sizes_given(arguments),
        dialect=arguments.dialect,
        options=parse_options(arguments.option, subject.options),
    )
    return checked(subject, workload)


def sizes_given(arguments: argparse.Namespace) -> dict[str, int]:
    """Return the sizes that were given."""
    values = {name: getattr(arguments, name) for name in SIZES}
    return {name: value for name, value in values.items() if value is not None}


def checked(subject: Subject, workload: Workload) -> Workload:
    """Return the checked workload with its dialect's name."""
    subject.options_of(workload)
    return replace(workload, dialect=subject.dialect_of(workload))


def parse_options(texts: Iterable[str], known: Iterable[Option]) -> dict[str, OptionValue]:
    """Parse ``name=value`` by the options' types."""
    options = {option.name: option for option in known}
    values: dict[str, OptionValue] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ParaplyError(MALFORMED_OPTION, text=text, reason="it has no name=value")
        if name in values:
            raise ParaplyError(MALFORMED_OPTION, text=text, reason=f"{name} is given twice")
        try:
            # An unknown option stays text; the subject rejects it.
            values[name] = options[name].parsed(value) if name in options else value
        except ValueError as error:
            raise ParaplyError(MALFORMED_OPTION, text=text, reason=str(error)) from None
    return values


def workload_words(subject: Subject, workload: Workload) -> list[str]:
    """Return words for :func:`workload_of`."""
    words = [f"--dialect={workload.dialect}"] if workload.dialect else []
    for name in SIZES:
        if getattr(workload, name) != getattr(DEFAULT, name):
            words.append(f"--{name}={getattr(workload, name)}")
    defaults = {option.name: option.default for option in subject.options}
    for name, value in workload.options.items():
        if value != defaults.get(name):
            words += ["--option", f"{name}={option_text(value)}"]
    return words


def option_text(value: OptionValue) -> str:
    """Spell a value for the command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def command_line(words: Iterable[str]) -> str:
    """Quote words for a shell."""
    return shlex.join(words)
