"""Watches all targets, and keeps the state of it in one small file."""

from __future__ import annotations

import json
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from paraply.adapters.servers.binlog_stream import EventStream
from paraply.verifying.watch.errors import STATE_OF_OTHERS, STATE_UNREADABLE
from paraply.verifying.watch.findings import Finding, FindingsFile
from paraply.verifying.watch.pair import PairOptions, PairSnapshot, PairState, PairWatch
from paraply.verifying.watch.source import SourceSnapshot, SourceState, SourceWatch
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.input_documents import parse_json, read_bounded
from paraply.vocabulary.verdict import Verdict, combine
from paraply.vocabulary.whole_files import appearing

FORMAT = 1
SAVE_EVERY_S = 5.0
STATE_BYTES_MAX = 128 << 20
_STEPS = 200
"""Transactions between looks at the clock."""
_IDLE_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchRequest:
    """What to watch; each target has a connection of its own to the source.

    ``audited``: the source once more, to judge its metadata.
    """

    pairs: Sequence[tuple[EventStream, EventStream]]
    audited: EventStream | None = None
    options: PairOptions
    state: Path | None = None
    findings: Path | None = None
    save_every_s: float = SAVE_EVERY_S


class Watch:
    """Judges until told to stop.

    Raises ``ParaplyError`` for servers that cannot be watched, and P375, P376 (state).
    """

    def __init__(
        self, request: WatchRequest, on_finding: Callable[[Finding], None] = lambda _: None
    ) -> None:
        self._request = request
        self._changed = threading.Condition()
        states, audited, length = _load(request)
        self._findings = FindingsFile(request.findings, length)
        self._on_finding = on_finding
        self.pairs: list[PairWatch] = []
        self.source: SourceWatch | None = None
        try:
            if request.audited is not None:
                self.source = SourceWatch(
                    request.audited,
                    on_finding=self._take_finding,
                    state=audited,
                    slices=request.options.slices,
                    changed=self._changed,
                )
            for source, target in request.pairs:
                self.pairs.append(
                    PairWatch(
                        source,
                        target,
                        options=request.options,
                        on_finding=self._take_finding,
                        state=states.get(target.name),
                        changed=self._changed,
                    )
                )
        except BaseException:
            self.end()
            raise

    def _take_finding(self, finding: Finding) -> None:
        self._findings.add(finding)
        self._on_finding(finding)

    def run(self, should_stop: Callable[[], bool], on_beat: Callable[[], None]) -> None:
        """Judge until ``should_stop``, or until no pair can go on.

        ``on_beat`` is called some times a second.
        """
        try:
            self.save()
            saved = time.monotonic()
            while not should_stop() and any(pair.failure is None for pair in self.pairs):
                if not self.work():
                    with self._changed:
                        self._changed.wait(_IDLE_S)
                on_beat()
                if time.monotonic() - saved >= self._request.save_every_s:
                    self.save()
                    saved = time.monotonic()
            self.save()
        finally:
            self.end()

    def work(self) -> bool:
        """Take some transactions of each log; return whether there were any."""
        worked = False
        for each in self._all():
            for _ in range(_STEPS):
                if not each.step():
                    break
                worked = True
        return worked

    def _all(self) -> list[PairWatch | SourceWatch]:
        return [*self.pairs, *([] if self.source is None else [self.source])]

    @property
    def verdict(self) -> Verdict:
        """Return the gravest verdict of all pairs, and of what there was to judge of the source."""
        source = self.source_snapshot()
        audited = [] if source is None or source.verdict is None else [source.verdict]
        return combine([*(pair.verdict for pair in self.pairs), *audited])

    def source_snapshot(self) -> SourceSnapshot | None:
        """Return the present numbers of the source's audit."""
        return None if self.source is None else self.source.snapshot()

    def snapshots(self) -> list[PairSnapshot]:
        """Return the present numbers of all pairs."""
        return [pair.snapshot() for pair in self.pairs]

    def save(self) -> None:
        """Write the state, if a file was named."""
        if self._request.state is None:
            return
        self._findings.sync()
        document = {
            "paraply": "watch-state",
            "format": FORMAT,
            "findings_bytes": self._findings.length,
            "pairs": {pair.name: pair.state().as_json() for pair in self.pairs},
            "source": None if self.source is None else self.source.state().as_json(),
        }
        with appearing(self._request.state) as part:
            part.write_text(json.dumps(document), encoding="utf-8")

    def end(self) -> None:
        """Close all connections and files."""
        for each in self._all():
            each.end()
        self._findings.close()


def _load(
    request: WatchRequest,
) -> tuple[dict[str, PairState], SourceState | None, int | None]:
    path = request.state
    if path is None or not path.exists():
        return {}, None, None
    try:
        document = parse_json(read_bounded(path, STATE_BYTES_MAX).decode())
        if document["paraply"] != "watch-state" or document["format"] != FORMAT:
            raise ValueError("it is no state of this version of paraply watch")
        states = {name: PairState.of_json(each) for name, each in document["pairs"].items()}
        audited = document.get("source")
        source = None if audited is None else SourceState.of_json(audited)
        length = int(document["findings_bytes"])
    except (
        OSError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        OverflowError,
        zlib.error,
    ) as reason:
        text = f"{reason!r}" if isinstance(reason, KeyError) else str(reason)
        raise ParaplyError(STATE_UNREADABLE, where=str(path), reason=text) from None
    targets = {target.name for _, target in request.pairs}
    if targets != states.keys():
        raise ParaplyError(STATE_OF_OTHERS, where=str(path), targets=", ".join(sorted(states)))
    return states, source, length
