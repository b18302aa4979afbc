"""Selection of judged transactions, by GTIDs and domain."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from paraply.vocabulary.audit_result import JudgedRange
from paraply.vocabulary.counting import counted
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.gtid_set_text import parse_gtid
from paraply.vocabulary.log import LoggedTransaction

GTID_NOT_SELECTABLE = register(
    "P345",
    "{option} {text}: {reason}",
    "give one GTID as the log has it (uuid:number), or for MariaDB one per domain (0-1-100,1-1-7)",
)
GTID_NOT_IN_LOG = register(
    "P346",
    "no transaction of the input has the GTID {gtid} of {option}: {files}",
    "name the file that holds it (SHOW BINLOG EVENTS), or a GTID of the files given",
)
RANGE_IS_EMPTY = register(
    "P347",
    "no transaction is left to judge: {reason}",
    "exchange the two GTIDs, or name a domain that the log has",
)

NAMED_MAX = 3

START, STOP = "--start-gtid", "--stop-gtid"

GtidsByFile = dict[str, tuple[str, str]]
"""First and last GTID by file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The judged part; empty values exclude nothing."""

    start_gtid: str = ""
    """First GTID; MariaDB: one per domain, comma-separated."""
    stop_gtid: str = ""
    """Last transaction, likewise."""
    domain: int | None = None

    def __bool__(self) -> bool:
        return bool(self.start_gtid or self.stop_gtid or self.domain is not None)


@dataclass(slots=True)
class Selector:
    """Applies a selection in log order.

    A stream is a MariaDB domain or, named "", a log without domains. Raises P345.
    """

    selection: Selection
    judged: JudgedRange = field(init=False)
    is_over: bool = False
    """Whether nothing that follows can be judged."""
    _starts: dict[str, str] = field(init=False)
    _stops: dict[str, str] = field(init=False)
    _ended: set[str] = field(default_factory=set)
    _crossed: tuple[str, str] | None = None
    """Start and stop in the wrong order."""
    _streams: dict[str, GtidsByFile] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.judged = JudgedRange(
            start_gtid=self.selection.start_gtid,
            stop_gtid=self.selection.stop_gtid,
            domain=self.selection.domain,
        )
        self._starts = _by_stream(self.selection.start_gtid, START, self.selection.domain)
        self._stops = _by_stream(self.selection.stop_gtid, STOP, self.selection.domain)

    def takes(self, txn: LoggedTransaction) -> bool:
        """Return whether to judge the next transaction."""
        stream = _stream_of(txn.domain)
        if self._starts.get(stream) == txn.gtid:
            del self._starts[stream]
        is_taken = self.takes_all(txn.domain, txn.start.file, txn.gtid, txn.gtid, 1)
        if is_taken:
            self.note_taken(txn.gtid, txn.gtid)
        if self._stops.get(stream) == txn.gtid:
            if stream in self._starts:
                self._crossed = self._starts[stream], txn.gtid
            del self._stops[stream]
            self._ended.add(stream)
            self.is_over = not stream or self.selection.domain is not None
        return is_taken

    def ends(self) -> set[str]:
        """Return the GTIDs at which a stream has yet to begin or to end."""
        return {*self._starts.values(), *self._stops.values()}

    def takes_all(self, domain: int | None, file: str, first: str, last: str, count: int) -> bool:
        """Return whether to judge the next ``count`` transactions of a stream.

        None of them may have a GTID of :meth:`ends`; ``first`` and ``last`` are theirs.
        """
        stream, judged = _stream_of(domain), self.judged
        note_gtids(self._streams.setdefault(stream, {}), file, first, last)
        if self.selection.domain is not None and domain != self.selection.domain:
            judged.other_domains += count
        elif stream in self._ended:
            judged.after += count
        elif stream in self._starts:
            judged.before += count
        else:
            return True
        return False

    def note_taken(self, first: str, last: str) -> None:
        """Note the first and the last GTID of transactions to judge, empty if anonymous."""
        self.judged.first_gtid = self.judged.first_gtid or first
        self.judged.last_gtid = last or self.judged.last_gtid

    def require_found(
        self, gtids: Mapping[str, tuple[str, str]], judged: int, torn: Collection[str] = ()
    ) -> None:
        """Raise for what the log lacks.

        ``gtids`` are the first and last of each file; ``torn`` files were not read to their end.
        Raises P346 for a missing GTID, P347 if no transaction of a log was judged.
        """
        for option, left in ((START, self._starts), (STOP, self._stops)):
            for stream, gtid in left.items():
                files = _told(self._streams.get(stream) or gtids, torn)
                raise ParaplyError(GTID_NOT_IN_LOG, gtid=gtid, option=option, files=files)
        if judged or not self._streams:
            return
        reason = "no transaction lies between the two GTIDs"
        wanted = self.selection.domain
        if self._crossed is not None:
            start, stop = self._crossed
            reason = f"{STOP} {stop} comes before {START} {start}"
        elif wanted is not None and str(wanted) not in self._streams:
            domains = sorted((name for name in self._streams if name), key=int)
            known = ", ".join(domains[:NAMED_MAX]) + (", ..." if domains[NAMED_MAX:] else "")
            reason = f"the log has no transaction of domain {wanted}, " + (
                f"but of {known}" if domains else "as its GTIDs name no domains"
            )
        raise ParaplyError(RANGE_IS_EMPTY, reason=reason)


def _stream_of(domain: int | None) -> str:
    return "" if domain is None else str(domain)


def note_gtids(gtids: GtidsByFile, file: str, first: str, last: str) -> None:
    """Extend a file's range of GTIDs."""
    known_first, known_last = gtids.get(file, ("", ""))
    gtids[file] = (known_first or first, last or known_last)


def _told(gtids: Mapping[str, tuple[str, str]], torn: Collection[str]) -> str:
    named = [
        (f"{file} has {first} to {last}" if first else f"{file} has none")
        + (" and could not be read to its end" if file in torn else "")
        for file, (first, last) in gtids.items()
    ]
    more = len(named) - NAMED_MAX
    if more > 0:
        named[NAMED_MAX:] = [counted(more, "more file")]
    return "; ".join(named) or "the input has no transactions"


def _by_stream(text: str, option: str, domain: int | None) -> dict[str, str]:
    found: dict[str, str] = {}

    def refuse(reason: str) -> ParaplyError:
        return ParaplyError(GTID_NOT_SELECTABLE, option=option, text=text, reason=reason)

    for part in filter(None, (each.strip() for each in text.split(","))):
        numbers = part.split("-")
        is_mariadb = len(numbers) == 3 and all(
            number.isascii() and number.isdecimal() for number in numbers
        )
        if is_mariadb:
            stream, *_ = numbers = [str(int(number[:20])) for number in numbers]
            gtid = "-".join(numbers)
            if domain is not None and stream != str(domain):
                raise refuse(f"{gtid} is not of --domain {domain}")
        else:
            stream = ""
            try:
                gtid = str(parse_gtid(part))
            except ParaplyError as fault:
                raise refuse(fault.text) from None
            if domain is not None:
                raise refuse(f"{gtid} names no domain, which --domain asks for")
        if stream in found:
            raise refuse(f"two GTIDs of {f'domain {stream}' if stream else 'one log'}")
        found[stream] = gtid
    if text and not found:
        raise refuse("it names no GTID")
    return found
