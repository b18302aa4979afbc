"""Short ways to run one certifier in tests."""

from __future__ import annotations

from paraply.reference_impl.certification.certifier import Certifier
from paraply.reference_impl.certification.dialects import dialect_named
from paraply.reference_impl.certification.run import CertifierRun
from paraply.vocabulary.history import History, HistoryHeader


def run_of(dialect: str = "wl8440") -> CertifierRun:
    """Return a run of one certifier."""
    return CertifierRun(Certifier(dialect_named(dialect)))


def history_of(run: CertifierRun) -> History:
    """Return what the run recorded, checked for consistency."""
    return run.recorder.history(HistoryHeader()).check()


def timestamps(run: CertifierRun) -> list[tuple[int, int]]:
    """Return (last_committed, sequence_number) of every transaction that was given one."""
    return [
        (event.timestamp.last_committed, event.timestamp.sequence_number)
        for event in history_of(run).events
        if event.timestamp is not None
    ]
