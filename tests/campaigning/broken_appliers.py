"""Appliers that break off at the ninth question of where one may go, or change their mind."""

from __future__ import annotations

import os
import time
from pathlib import Path

from paraply.adapters.conformance.rules.correct import LogicalClock
from paraply.adapters.conformance.rules.faulty import WaitsForOneNumber

QUESTIONS = 8


class Dies(LogicalClock):
    """Ends without a word."""

    name = "dies"
    asked = 0

    def place(self, transaction):
        self.asked += 1
        if self.asked > QUESTIONS:
            self.break_off()
        return super().place(transaction)

    def break_off(self):
        os._exit(7)


class FallsSilent(Dies):
    """Stays, and says nothing any more."""

    name = "falls_silent"

    def break_off(self):
        time.sleep(60)


class FaultyAtFirst(WaitsForOneNumber):
    """Waits for one number in as many runs as it is told, and is right from then on."""

    name = "faulty_at_first"

    def __init__(self, init):
        super().__init__(init)
        counter = Path(os.environ["PARAPLY_TEST_RUNS_LEFT"])
        self.left = int(counter.read_text())
        counter.write_text(str(self.left - 1))

    def place(self, transaction):
        if self.left > 0:
            return super().place(transaction)
        return LogicalClock.place(self, transaction)
