"""A semi-synchronous source and its replicas as a subject under test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from reference_impl.recorder import Recorder
from reference_impl.semi_sync.binlog import ReplicaState
from reference_impl.semi_sync.cluster import SOURCE, Cluster
from reference_impl.semi_sync.settings import Recovery, Settings, Staging, WaitPoint
from reference_impl.subject import Option, Subject, Workload, register_subject
from vocabulary.history import OptionValue
from vocabulary.schedule import Schedule
from vocabulary.transactions import Transaction, TransactionId

NOT_LOSSLESS = frozenset({"visible_only_after_acknowledgement", "what_was_seen_survives"})


class SemiSyncSubject(Subject):
    """Source and replicas; a mutant is another class of cluster. The dialect is the design."""

    name = "semi_sync"
    meaning = "group commit with semi-sync acknowledgement, crash recovery and fail-over"
    source = "MDEV-162, MDEV-181"
    dialects = ("after_sync", "after_commit", "stock_recovery", "barred_recovery", "global_mutex")
    options = (
        Option(name="acknowledgements", default=1, meaning="wait_for_slave_count"),
        Option(name="keeps_relay_log", default=True, meaning="relay logs survive a restart"),
        Option(name="rotation_waits", default=False, meaning="rotation waits for pending XIDs"),
        Option(name="waits_without_replicas", default=True, meaning="wait_no_slave"),
        Option(name="reads", default=2, meaning="reads at the source"),
        Option(name="source_crashes", default=1, meaning="crashes of the source"),
        Option(name="replica_crashes", default=0, meaning="crashes of replicas"),
        Option(name="rotations", default=1, meaning="rotations of the binary log"),
        Option(name="abandons", default=0, meaning="waits that are given up"),
        Option(name="loses_source", default=True, meaning="the source may be lost for good"),
    )
    breaks: ClassVar[Mapping[str, frozenset[str]]] = {
        "after_commit": NOT_LOSSLESS,
        "stock_recovery": NOT_LOSSLESS,
    }

    areas: ClassVar[frozenset[str]] = frozenset({"semi_sync"})

    def __init__(self, cluster: type[Cluster] = Cluster) -> None:
        self.cluster = cluster

    def simulate(
        self,
        schedule: Schedule,
        workload: Workload,
        dialect: str,
        options: Mapping[str, OptionValue],
        recorder: Recorder,
    ) -> tuple[str, ...]:
        """Let every client commit; crash, rotate and lose the source where the schedule says."""
        settings = self.settings(dialect, workload, options)
        clients: list[TransactionId] = []
        for number in range(1, workload.transactions + 1):
            identifier = TransactionId(number)
            write_set = frozenset({f"r{number}"})
            recorder.add(Transaction(id=identifier, session=f"c{number}", write_set=write_set))
            clients.append(identifier)
        names = [f"r{number}" for number in range(1, settings.replicas + 1)]
        cluster = self.cluster(
            settings, recorder, clients, replicas=[ReplicaState(name) for name in names]
        )
        cluster.run(schedule)
        return (SOURCE, *names)

    def settings(
        self, dialect: str, workload: Workload, options: Mapping[str, OptionValue]
    ) -> Settings:
        """Return the settings that a dialect and the options stand for."""
        recovery = {
            "stock_recovery": Recovery.COMMITS,
            "barred_recovery": Recovery.BARRED,
        }.get(dialect, Recovery.WAITS)
        after = dialect == "after_commit"
        return Settings(
            clients=workload.transactions,
            replicas=max(1, workload.members - 1),
            wait_point=WaitPoint.AFTER_COMMIT if after else WaitPoint.AFTER_SYNC,
            recovery=recovery,
            staging=Staging.GLOBAL_MUTEX if dialect == "global_mutex" else Staging.CHAINED,
            acknowledgements=int(options["acknowledgements"]),
            keeps_relay_log=bool(options["keeps_relay_log"]),
            rotation_waits=bool(options["rotation_waits"]),
            waits_without_replicas=bool(options["waits_without_replicas"]),
            reads=int(options["reads"]),
            source_crashes=int(options["source_crashes"]),
            replica_crashes=int(options["replica_crashes"]),
            rotations=int(options["rotations"]),
            abandons=int(options["abandons"]),
            loses_source=bool(options["loses_source"]),
        )


SEMI_SYNC = register_subject(SemiSyncSubject())
