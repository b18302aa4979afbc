"""The four session guarantees, key by key, in one pass over each session.

Source: Terry et al., "Session Guarantees for Weakly Consistent Replicated Data" (1994). Within a
key's known order, no later access has an older version.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from paraply.properties.isolation.breaches import (
    OwnWriteUnseen,
    ReadWentBackInSession,
    SessionGuaranteeBroken,
    WriteBeforeWhatWasRead,
    WritesReorderedInSession,
    shown,
)
from paraply.properties.isolation.versions import INITIAL, Versions
from paraply.vocabulary.client_history import DataType, Ending, Key


class Guarantee(Enum):
    """The guarantees of a session."""

    READ_YOUR_WRITES = "read your writes"
    MONOTONIC_READS = "monotonic reads"
    MONOTONIC_WRITES = "monotonic writes"
    WRITES_FOLLOW_READS = "writes follow reads"


_BREACHES: dict[Guarantee, type[SessionGuaranteeBroken]] = {
    Guarantee.READ_YOUR_WRITES: OwnWriteUnseen,
    Guarantee.MONOTONIC_READS: ReadWentBackInSession,
    Guarantee.MONOTONIC_WRITES: WritesReorderedInSession,
    Guarantee.WRITES_FOLLOW_READS: WriteBeforeWhatWasRead,
}


@dataclass(slots=True)
class Judged:
    """The result for one guarantee."""

    breaches: list[SessionGuaranteeBroken] = field(default_factory=list)
    compared: int = 0
    """Pairs of accesses of known order."""
    undecided: int = 0
    """Pairs of unknown order."""


Kept = dict[Key, tuple[int, int]]
"""Each key's newest version and its accessor."""


@dataclass(slots=True)
class _Session:
    read: Kept = field(default_factory=dict)
    written: Kept = field(default_factory=dict)


def session_guarantees(versions: Versions) -> dict[Guarantee, Judged]:
    """Judge each committed transaction in its session."""
    return _Judge(versions).judge()


class _Judge:
    def __init__(self, versions: Versions) -> None:
        self._versions = versions
        self._chain = _chains(versions)
        self._found = {guarantee: Judged() for guarantee in Guarantee}

    def judge(self) -> dict[Guarantee, Judged]:
        versions = self._versions
        writers = versions.writers
        # Sorted by transaction, reads and versions advance together with the transactions.
        reads = sorted(range(len(versions.readers)), key=versions.readers.__getitem__)
        writes = sorted(range(len(writers)), key=writers.__getitem__)
        read_at, write_at = 0, writers.count(INITIAL)
        sessions: dict[str, _Session] = {}
        for index, transaction in enumerate(versions.history.transactions):
            read = []
            while read_at < len(reads) and versions.readers[reads[read_at]] == index:
                read.append(versions.read[reads[read_at]])
                read_at += 1
            written = []
            while write_at < len(writes) and writers[writes[write_at]] == index:
                written.append(writes[write_at])
                write_at += 1
            if transaction.session and transaction.ending is Ending.COMMITTED:
                session = sessions.get(transaction.session)
                if session is None:
                    session = sessions[transaction.session] = _Session()
                self._take(index, read, written, session)
        return self._found

    def _take(self, index: int, read: list[int], written: list[int], session: _Session) -> None:
        if session.written:
            self._compare(index, read, session.written, Guarantee.READ_YOUR_WRITES)
            self._compare(index, written, session.written, Guarantee.MONOTONIC_WRITES)
        if session.read:
            self._compare(index, read, session.read, Guarantee.MONOTONIC_READS)
            self._compare(index, written, session.read, Guarantee.WRITES_FOLLOW_READS)
        self._keep(index, read, session.read)
        self._keep(index, written, session.written)

    def _compare(self, index: int, later: list[int], before: Kept, guarantee: Guarantee) -> None:
        keys, chain = self._versions.keys, self._chain
        compared = 0
        for version in later:
            earlier = before.get(keys[version])
            if earlier is None:
                continue
            newest = earlier[0]
            # The common case first: both are on one chain, in order.
            if chain[version] == chain[newest] and version >= newest:
                compared += 1
                continue
            older = _is_older(version, newest, self._versions, chain)
            compared += older is not None
            self._found[guarantee].undecided += older is None
            if older:
                breach = self._breach(guarantee, earlier, (version, index))
                self._found[guarantee].breaches.append(breach)
        if compared:
            self._found[guarantee].compared += compared

    def _keep(self, index: int, accessed: list[int], kept: Kept) -> None:
        keys, chain = self._versions.keys, self._chain
        for version in accessed:
            key = keys[version]
            before = kept.get(key)
            if before is None or not _is_older(version, before[0], self._versions, chain):
                kept[key] = (version, index)

    def _breach(
        self, guarantee: Guarantee, earlier: tuple[int, int], later: tuple[int, int]
    ) -> SessionGuaranteeBroken:
        transactions = self._versions.history.transactions
        return _BREACHES[guarantee](
            session=transactions[later[1]].session,
            earlier=transactions[earlier[1]].name,
            earlier_access=_told(*earlier, self._versions),
            later=transactions[later[1]].name,
            later_access=_told(*later, self._versions),
        )


def _is_older(version: int, other: int, versions: Versions, chain: list[int]) -> bool | None:
    if version == other:
        return False
    if chain[version] == chain[other]:
        return version < other
    if INITIAL in (versions.writers[version], versions.writers[other]):
        return versions.writers[version] == INITIAL
    if versions.history.data_type is DataType.LIST:
        # Unread versions follow all read ones in unknown order.
        is_unread = [not versions.follows[one] for one in (version, other)]
        return None if all(is_unread) else is_unread[1]
    return None


def _chains(versions: Versions) -> list[int]:
    """Versions of one chain are ordered."""
    chain: list[int] = []
    for version, follows in enumerate(versions.follows):
        chain.append(chain[-1] if follows else version)
    return chain


def _told(version: int, transaction: int, versions: Versions) -> str:
    key, value = versions.keys[version], shown(versions.values[version])
    if versions.writers[version] == transaction:
        return f"wrote {key}={value}"
    if versions.writers[version] == INITIAL:
        return f"read {key} before anything was written there"
    return f"read {key}={value}"
