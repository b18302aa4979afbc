"""Appliers that break off at the ninth question of where a transaction may go."""

from __future__ import annotations

import os
import time

from paraply.adapters.conformance.rules.correct import LogicalClock

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
