"""Session guarantees on arrays: a fast pass for histories without a breach.

No version number may fall below the session's greatest. ``paraply.properties.isolation.sessions``
decides the rest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paraply.properties.isolation.compiled.columns import session_numbers
from paraply.properties.isolation.sessions import Guarantee, Judged
from paraply.properties.isolation.versions import INITIAL, Versions

Ints = NDArray[np.int64]

_NEVER = -1


def kept_guarantees(versions: Versions) -> dict[Guarantee, Judged] | None:
    """Return kept guarantees; None for a possible breach."""
    if versions.unordered:
        return None
    writers = np.array(versions.writers, np.int64)
    session = session_numbers(versions.history)
    numbers = np.arange(len(writers))
    # Versions come key after key, each key's initial version first.
    key = np.maximum.accumulate(np.where(writers == INITIAL, numbers, 0))
    is_unread = (writers != INITIAL) & ~np.array(versions.follows, np.bool_)
    readers = np.array(versions.readers, np.int64)
    written = np.flatnonzero(writers != INITIAL)
    transaction = np.concatenate([readers, writers[written]])
    version = np.concatenate([np.array(versions.read, np.int64), written])
    is_write = np.arange(len(version)) >= len(readers)
    in_session = session[transaction] >= 0
    transaction, version, is_write = (
        column[in_session] for column in (transaction, version, is_write)
    )
    group = session[transaction] * len(writers) + key[version]
    order = np.lexsort((transaction, group))
    group, transaction, version, is_write = (
        column[order] for column in (group, transaction, version, is_write)
    )
    if not len(group):
        return {guarantee: Judged() for guarantee in Guarantee}
    begins_group = np.append(True, group[1:] != group[:-1])
    begins = begins_group | np.append(True, transaction[1:] != transaction[:-1])
    # The last access of the transaction before, in the same session and to the same key.
    before = np.maximum.accumulate(np.where(begins, np.arange(len(group)), 0)) - 1
    before[np.maximum.accumulate(np.where(begins_group, np.arange(len(group)), 0)) > before] = -1
    found = {}
    for guarantee, looks_at_writes, of_writes in (
        (Guarantee.READ_YOUR_WRITES, True, False),
        (Guarantee.MONOTONIC_READS, False, False),
        (Guarantee.MONOTONIC_WRITES, True, True),
        (Guarantee.WRITES_FOLLOW_READS, False, True),
    ):
        newest = _newest(group, np.where(is_write == looks_at_writes, version, _NEVER))
        earlier = np.where(before >= 0, newest[before], _NEVER)
        compared = (is_write == of_writes) & (earlier != _NEVER)
        old, new = earlier[compared], version[compared]
        is_open = is_unread[new] & is_unread[old]
        if ((new < old) & ~is_open).any():
            return None
        undecided = int((is_open & (new != old)).sum())
        found[guarantee] = Judged(compared=len(new) - undecided, undecided=undecided)
    return found


def _newest(group: Ints, version: Ints) -> Ints:
    """Groups come in rising order."""
    rank = np.cumsum(np.append(0, group[1:] != group[:-1]))
    width = int(version.max()) + 2
    newest: Ints = np.maximum.accumulate(rank * width + version + 1) - rank * width - 1
    return newest
