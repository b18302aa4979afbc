"""Logs of transactions with one or two rows, as sources of the reference write them."""

from __future__ import annotations

from itertools import pairwise

from paraply.reference_impl.applier.source_log import RelayLog, SourceSettings
from paraply.reference_impl.certification.dialects import DIALECTS
from paraply.reference_impl.mariadb.source import GroupCommitSource, GroupSettings
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import Workload
from paraply.reference_impl.wl4648.source import RowSource
from paraply.vocabulary.schedule import SeededSchedule
from paraply.vocabulary.transactions import Transaction


def _small_sets(rows: dict[str, tuple[int, ...]]) -> list[tuple[str, ...]]:
    names = sorted(rows)
    return [*((name,) for name in names), *pairwise(names)]


class _SmallRows(RowSource):
    def row_sets(self, rows: dict[str, tuple[int, ...]]) -> list[tuple[str, ...]]:
        return _small_sets(rows)


class _SmallGroups(GroupCommitSource):
    def row_sets(self, rows: dict[str, tuple[int, ...]]) -> list[tuple[str, ...]]:
        return _small_sets(rows)


def small_relay_log(
    rows: int, count: int, *, conflicts: bool = True, seed: int = 0
) -> tuple[RelayLog, Recorder]:
    """Return a relay log and the recorder that lists its transactions."""
    settings = SourceSettings(
        barriers=False, rotations=0, collections=0, view_changes=0, sessions=1
    )  # fmt: skip
    source = _SmallRows(Workload(rows=rows).row_names, DIALECTS["wl8440"], settings)
    source.deletes, source.conflicts = False, conflicts
    recorder = Recorder()
    return source.execute(SeededSchedule(seed), recorder, count), recorder


def small_group_log(
    rows: int, count: int, *, domains: str = "one", seed: int = 0
) -> tuple[Transaction, ...]:
    """Return a MariaDB log with commit groups; few rows conflict more."""
    source = _SmallGroups(Workload(rows=rows).row_names, GroupSettings(domains=domains))
    return source.write(SeededSchedule(seed), Recorder(), count)
