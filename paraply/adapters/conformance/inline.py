"""Run a rule as an applier in this process."""

from __future__ import annotations

import io
import json
from collections import deque
from typing import Any

from paraply.adapters.conformance.child import ApplierDiedError, ApplierSilentError
from paraply.adapters.conformance.protocol import Message, ProtocolError, checked, encode
from paraply.adapters.conformance.rules.applier import MakeRule, RuleApplier

_WITH_VALUES = ("init", "txn")
"""Messages with bytes or decimals."""


class InlineApplier:
    """Offers a child process' interface."""

    def __init__(self, make: MakeRule, base: type[RuleApplier] = RuleApplier) -> None:
        self._applier = base(make, io.StringIO())
        self._applier._tell = self._take  # type: ignore[method-assign]
        self.last_lines: deque[str] = deque(maxlen=1)
        self.has_spoken = False
        self._received: deque[Message] = deque()
        self._end = ""

    def send(self, message: Message) -> None:
        """Pass a message; an exception ends it."""
        if self._end:
            raise ApplierDiedError(self._end)
        if message["type"] in _WITH_VALUES:
            message = json.loads(encode(message))
        try:
            self._applier.on_message(message)
        except ProtocolError:
            raise
        except Exception as error:
            self._end = f"the applier ended with {type(error).__name__}: {error}"

    def receive(self, timeout: float | None = None) -> Message:
        """Return the next message; may raise like a child process."""
        del timeout
        if not self._received:
            if self._end:
                raise ApplierDiedError(self._end)
            raise ApplierSilentError("no message")
        self.has_spoken = True
        return self._received.popleft()

    def receive_until_idle(self) -> list[Message]:
        """Return all messages."""
        found = list(self._received)
        self._received.clear()
        return found

    def kill(self) -> None:
        """End the applier."""
        self._end = "the applier was killed by SIGKILL"

    def _take(self, **message: Any) -> None:
        self._received.append(checked(message))


class InlineLauncher:
    """Makes appliers; ``base`` runs the rule."""

    def __init__(self, make: MakeRule, base: type[RuleApplier] = RuleApplier) -> None:
        self._make = make
        self._base = base

    def start(self) -> InlineApplier:
        """Return a new applier."""
        return InlineApplier(self._make, self._base)

    def discard(self, process: InlineApplier, *, can_reset: bool = False) -> None:
        """Forget the applier."""
