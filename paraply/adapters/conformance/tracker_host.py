"""Run a tracker and our applier that obeys it: ``-- COMMAND ARG...``.

The harness sees one applier; a tracker fault ends the run.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any, ClassVar

from paraply.adapters.conformance.rules.applier import Message, RuleApplier
from paraply.adapters.conformance.rules.correct import LogicalClock
from paraply.adapters.conformance.rules.rule import Init, Transaction
from paraply.adapters.conformance.tracking import Answer, Tracker, TrackerFaultError

EXIT_FAULT = 70


def tracker_host_command(command: Sequence[str], *, timeout: float) -> list[str]:
    """Return a tracker's command as applier."""
    module = [sys.executable, "-m", "paraply.adapters.conformance.tracker_host", str(timeout)]
    return [*module, *command]


class Obeying(LogicalClock):
    """Schedules by the tracker's answers."""

    features = frozenset({"writeset"})

    def __init__(self, init: Init) -> None:
        super().__init__(init)
        self.answers: dict[int, Answer] = {}

    def place(self, transaction: Transaction) -> int | None:
        """Wait for the tracker's answer."""
        depends = self.answers[transaction.id].depends
        if depends is None:
            return super().place(transaction)
        return self.free_worker() if depends <= self.committed else None

    def checkpoint(self, order: Sequence[int], last_received: int) -> int | None:
        """Save nothing: positions are untested."""
        return None


class ObeyingApplier(RuleApplier):
    """Requests answers before accepting transactions."""

    offered: ClassVar[tuple[str, ...]] = ("ddl", "commit_order", "retry", "sync", "reset")

    def __init__(self, tracker: Tracker) -> None:
        super().__init__(self._make_rule, sys.stdout)
        self._tracker = tracker
        self._has_lost_it = False

    def _make_rule(self, init: Message) -> Obeying:
        self._has_lost_it = False
        self._tracker.init(init)
        rule = Obeying(init)
        rule.name = f"{self._tracker.name} (tracker)"  # type: ignore[misc]
        return rule

    def _on_txn(self, message: Message) -> None:
        if self._has_lost_it:
            return
        try:
            answer = self._tracker.track(message)
        except TrackerFaultError as error:
            self._has_lost_it = self._has_failed = True
            self._tell(type="fail", txn=message["id"], reason=f"the tracker: {error}")
            return
        assert isinstance(self.rule, Obeying)
        self.rule.answers[message["id"]] = answer
        stamped: dict[str, Any] = dict(message)
        if answer.depends is None:
            stamped |= {"lc": answer.last_committed, "sn": answer.sequence_number}
        super()._on_txn(stamped)

    def _on_rotate(self, message: Message) -> None:
        self._tracker.rotate(message)
        super()._on_rotate(message)


def main(arguments: Sequence[str]) -> int:
    """Run ``TIMEOUT COMMAND ARG...``; exit code 70 without a start."""
    timeout, *command = arguments
    tracker = Tracker(command, timeout=float(timeout))
    try:
        applier = ObeyingApplier(tracker)
        for line in sys.stdin:
            applier.on_message(json.loads(line))
    except TrackerFaultError as error:
        sys.stderr.write(f"the tracker: {error}\n")
        return EXIT_FAULT
    finally:
        tracker.process.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
