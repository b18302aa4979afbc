"""``paraply.check``: judge a recorded history."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraply.errors import USAGE
from paraply.judging.checking import (
    DEFAULT_LEVEL,
    Checked,
    Row,
    check_bank,
    check_clients,
    check_histories,
    check_objects,
)
from paraply.judging.history_files import FileKind, clients_history, kind_of, own_histories
from paraply.properties.registry import Property
from paraply.vocabulary.client_history import ClientHistory
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.history import History
from paraply.vocabulary.verdict import Verdict

PropertyName = str | Property | Callable[..., Any]
"""A name or a registered function."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """Verdicts of a history.

    ``rows`` are properties, phenomena or levels, with breaches as sentences.
    """

    verdict: Verdict
    title: str
    rows: tuple[Row, ...]

    def row(self, name: str | Callable[..., Any]) -> Row:
        """Return a property's row; ``KeyError`` if not judged."""
        wanted = name_of(name)
        for one in self.rows:
            if one.name == wanted:
                return one
        raise KeyError(wanted)


def check(
    history: History | str | Path,
    *,
    properties: Iterable[PropertyName] = (),
    level: str | None = None,
    log: str | Path | None = None,
    total: int | None = None,
    strict: bool = False,
) -> CheckReport:
    """Judge a history, or a file or folder of histories.

    Args:
        history: of paraply, Jepsen or Elle.
        properties: by default all for the subject.
        level: deciding isolation level of a client history.
        log: its source log as JSON Lines.
        total: sum of all accounts of a bank.
        strict: broken properties of precision and speed decide, too.

    Raises ``ParaplyError`` for an unreadable file or unsuitable option.
    """
    names = [name_of(one) for one in properties]
    if isinstance(history, History):
        return _report(check_histories("", [history], names, is_strict=strict))
    file = str(history)
    kind = kind_of(file)
    if kind in (FileKind.OURS, FileKind.PARQUET):
        _refuse("a history of paraply", level=level, log=log, total=total)
        histories = own_histories(file, kind)
        return _report(check_histories(file, histories, names, is_strict=strict))
    _refuse("a history of clients", properties=names or None)
    clients = clients_history(file, kind, None if log is None else str(log))
    if isinstance(clients, ClientHistory):
        _refuse("a history without accounts", total=total)
        if not clients.data_type.has_versions:
            return _report(check_objects(file, clients, level))
        return _report(check_clients(file, clients, level or DEFAULT_LEVEL))
    return _report(check_bank(file, clients, level, total=total))


def name_of(prop: PropertyName) -> str:
    """Return the name of a property."""
    if isinstance(prop, str):
        return prop
    return prop.name if isinstance(prop, Property) else prop.__name__


def _refuse(what: str, **options: object) -> None:
    for name, value in options.items():
        if value is not None:
            raise ParaplyError(USAGE, reason=f"{what} has no {name}", command="paraply check")


def _report(checked: Checked) -> CheckReport:
    return CheckReport(verdict=checked.verdict, title=checked.title, rows=checked.rows)
