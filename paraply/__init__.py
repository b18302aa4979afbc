"""Judge, explore and test parallel replication appliers (docs/python.md).

Names are imported on first use, so ``import paraply`` is cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from paraply import version as _version

if TYPE_CHECKING:
    from paraply.adapters.conformance.rules.rule import Rule as Applier
    from paraply.adapters.conformance.rules.rule import Transaction as ReceivedTransaction
    from paraply.adapters.conformance.rules.trackers import TrackingRule as Tracker
    from paraply.interface.auditing import AuditReport, audit
    from paraply.interface.checking import CheckReport, check
    from paraply.interface.conforming import ConformReport, conform
    from paraply.interface.exploring import ExploreReport, explore, subject
    from paraply.properties.registry import Violation, always, sometimes
    from paraply.reference_impl.recorder import Recorder
    from paraply.reference_impl.subject import Option, Subject, Workload
    from paraply.vocabulary.errors import ParaplyError
    from paraply.vocabulary.events import Event, EventKind
    from paraply.vocabulary.history import History
    from paraply.vocabulary.notation_parser import parse_history
    from paraply.vocabulary.schedule import Schedule
    from paraply.vocabulary.transactions import Transaction
    from paraply.vocabulary.verdict import Verdict

__version__ = _version.VERSION

_HOMES = {
    "Applier": "paraply.adapters.conformance.rules.rule:Rule",
    "AuditReport": "paraply.interface.auditing",
    "CheckReport": "paraply.interface.checking",
    "ConformReport": "paraply.interface.conforming",
    "Event": "paraply.vocabulary.events",
    "EventKind": "paraply.vocabulary.events",
    "ExploreReport": "paraply.interface.exploring",
    "History": "paraply.vocabulary.history",
    "Option": "paraply.reference_impl.subject",
    "ParaplyError": "paraply.vocabulary.errors",
    "ReceivedTransaction": "paraply.adapters.conformance.rules.rule:Transaction",
    "Recorder": "paraply.reference_impl.recorder",
    "Schedule": "paraply.vocabulary.schedule",
    "Subject": "paraply.reference_impl.subject",
    "Tracker": "paraply.adapters.conformance.rules.trackers:TrackingRule",
    "Transaction": "paraply.vocabulary.transactions",
    "Verdict": "paraply.vocabulary.verdict",
    "Violation": "paraply.properties.registry",
    "Workload": "paraply.reference_impl.subject",
    "always": "paraply.properties.registry",
    "audit": "paraply.interface.auditing",
    "check": "paraply.interface.checking",
    "conform": "paraply.interface.conforming",
    "explore": "paraply.interface.exploring",
    "parse_history": "paraply.vocabulary.notation_parser",
    "sometimes": "paraply.properties.registry",
    "subject": "paraply.interface.exploring",
}

__all__ = [
    "Applier",
    "AuditReport",
    "CheckReport",
    "ConformReport",
    "Event",
    "EventKind",
    "ExploreReport",
    "History",
    "Option",
    "ParaplyError",
    "ReceivedTransaction",
    "Recorder",
    "Schedule",
    "Subject",
    "Tracker",
    "Transaction",
    "Verdict",
    "Violation",
    "Workload",
    "__version__",
    "always",
    "audit",
    "check",
    "conform",
    "explore",
    "parse_history",
    "sometimes",
    "subject",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'paraply' has no attribute {name!r}")
    module, _, there = _HOMES[name].partition(":")
    found = getattr(importlib.import_module(module), there or name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
