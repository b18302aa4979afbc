"""Compares the versions of each row in two logs, one by one.

Final tables hide a lost transaction that a later one overwrites, and so do prefixes of batches. An
applier that promises to apply each transaction once and whole must log the same versions of each
row, and the changes of one source transaction in one target transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from paraply.properties.two_logs.commits import Commit, Key, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionFault:
    """A version of a row; commits count from 1, 0 means none."""

    key: Key
    source: int = 0
    target: int = 0
    after: int = 0
    """Another source commit: the later one that came first, or the last one applied."""


class VersionLost(VersionFault):
    """The target's log lacks a version of the source."""


class VersionReordered(VersionFault):
    """The target wrote a later version before this one."""


class VersionRepeated(VersionFault):
    """The target wrote an old version again."""


class VersionUnknown(VersionFault):
    """The target wrote a version that the source never had."""


class TransactionTorn(VersionFault):
    """Several target commits contain parts of one source commit; ``after`` is another part."""


@dataclass(frozen=True, slots=True)
class _Version:
    number: int
    value: Value


def versions_are_the_sources(
    source: Iterable[Commit], target: Iterable[Commit]
) -> tuple[VersionFault, ...]:
    """Return torn transactions, then the first fault of each row.

    Rows without a key have no versions and are not judged.
    """
    wanted, written = _versions(source), _versions(target)
    faults: list[VersionFault] = []
    parts: dict[int, dict[int, Key]] = {}
    for key in wanted | written:  # Keys are digests: their order means nothing.
        mine, theirs = wanted.get(key, []), written.get(key, [])
        same = _common_length(mine, theirs)
        for one, other in zip(mine[:same], theirs[:same], strict=True):
            parts.setdefault(one.number, {})[other.number] = key
        if same < max(len(mine), len(theirs)):
            faults.append(_first_fault(key, mine, theirs, same))
    faults.sort(key=lambda fault: (fault.source or fault.after, fault.target))
    torn: list[VersionFault] = []
    for number, found in sorted(parts.items()):
        if len(found) > 1:
            first, second, *_ = sorted(found)
            torn.append(
                TransactionTorn(key=found[second], source=number, target=first, after=second)
            )
    return (*torn, *faults)


def _versions(commits: Iterable[Commit]) -> dict[Key, list[_Version]]:
    found: dict[Key, list[_Version]] = {}
    for number, commit in enumerate(commits, start=1):
        for key, (before, after) in commit.changes.items():
            if before != after:
                found.setdefault(key, []).append(_Version(number, after))
    return found


def _common_length(mine: Sequence[_Version], theirs: Sequence[_Version]) -> int:
    same = 0
    for one, other in zip(mine, theirs, strict=False):
        if one.value != other.value:
            break
        same += 1
    return same


def _first_fault(
    key: Key, mine: Sequence[_Version], theirs: Sequence[_Version], at: int
) -> VersionFault:
    last = mine[at - 1].number if at else 0
    if at == len(theirs):
        return VersionLost(key=key, source=mine[at].number, after=last)
    written = theirs[at]
    later = [one for one in mine[at:] if one.value == written.value]
    if later:
        comes_late = any(one.value == mine[at].value for one in theirs[at:])
        kind = VersionReordered if comes_late else VersionLost
        return kind(key=key, source=mine[at].number, target=written.number, after=later[0].number)
    earlier = [one for one in mine[:at] if one.value == written.value]
    if earlier:
        return VersionRepeated(
            key=key, source=earlier[-1].number, target=written.number, after=last
        )
    return VersionUnknown(key=key, target=written.number, after=last)
