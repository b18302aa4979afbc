"""The reference replica and the reference servers behind the interfaces of their machines."""

from __future__ import annotations

from paraply.reference_impl.mariadb_gtid.positions_subject import GTID_POSITIONS
from paraply.reference_impl.mariadb_gtid.topology_subject import GTID_TOPOLOGY
from paraply.reference_impl.mariadb_gtid.workers import Stage
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.history import HistoryHeader
from paraply.vocabulary.schedule import RecordedSchedule

MANY = 1_000
"""The machine bounds how often things happen, not the budget."""


class ReferenceReplica:
    """A replica that takes a step only when it is told to."""

    def __init__(self, domains, dialect):
        self.recorder = Recorder()
        options = dict.fromkeys(("crashes", "stops", "retries", "reads", "cleanups"), MANY)
        workload = Workload(
            transactions=len(domains), dialect=dialect, options=options | {"workers": 3}
        )
        self.replica = GTID_POSITIONS.replica(
            RecordedSchedule(domains), workload, dialect, GTID_POSITIONS.options_of(workload),
            self.recorder,
        )  # fmt: skip
        self.replica.on_start()

    def take(self, act, *arguments):
        self.recorder.next_step()
        act(*arguments)

    def take_labelled(self, *labels):
        for step in [*self.replica.progress_steps(), *self.replica.other_steps()]:
            if step.label in labels:
                self.take(step.act)
                return

    def worker(self, number):
        return next((one for one in self.replica.workers if one.number == number), None)

    def dispatch(self):
        self.take_labelled("dispatch")

    def move(self, worker):
        self.take_labelled(f"w{worker}")

    def commit(self):
        self.take_labelled("leader takes the group", "group synced", "engine commit")

    def fail_for_now(self, worker):
        one = self.worker(worker)
        if one is not None and one.stage in (Stage.EXECUTED, Stage.RECORDED):
            self.take(self.replica.on_temporary_error, one)

    def clean_up(self):
        self.take_labelled("delete old rows")

    def show(self):
        self.take_labelled("show")

    def stop(self):
        self.take_labelled("stop")
        self.run(lambda step: step.label != "start")
        self.take_labelled("stopped")
        self.take_labelled("start")

    def crash(self, kept):
        if self.replica.is_stopped:
            return
        unsynced = len(self.replica.binlog) - self.replica.synced
        self.take(self.replica.on_crash, RecordedSchedule([min(kept, unsynced)]))

    def run(self, is_wanted):
        while steps := [step for step in self.replica.progress_steps() if is_wanted(step)]:
            self.take(steps[0].act)

    def finish(self):
        self.run(lambda step: True)
        assert not self.replica.workers, "the replica stalls"
        if not self.replica.is_stopped:
            self.replica.on_stopped()

    def history(self):
        return self.recorder.history(HistoryHeader()).check()


class ReferenceServers:
    """Servers that do something only when they are told to."""

    def __init__(self, topology, dialect):
        self.recorder = Recorder()
        options = dict.fromkeys(("crashes", "rotations", "holes", "purges"), MANY)
        workload = Workload(
            transactions=MANY, dialect=dialect,
            options=options | {"topology": topology, "losses": 1},
        )  # fmt: skip
        self.network = GTID_TOPOLOGY.network(
            RecordedSchedule([]), workload, dialect, GTID_TOPOLOGY.options_of(workload),
            self.recorder,
        )  # fmt: skip
        self.plainest = RecordedSchedule([])

    def server(self, name):
        return next(server for server in self.network.servers if server.name == name)

    def take(self, act, *arguments):
        self.recorder.next_step()
        act(*arguments)

    def write(self, server, schema, *, leaves_hole):
        one = self.server(server)
        if one.is_writable and one.is_up:
            choices = [schema, int(leaves_hole)]
            self.take(self.network.on_write, one, RecordedSchedule(choices))

    def replicate(self, server, choice):
        if not self.server(server).is_up:
            return
        links = [link for link in self.network.links if link.replica.name == server]
        steps = [step for link in links if not link.error for step in self.network.link_steps(link)]
        if steps and not self.network.is_circling:
            self.take(steps[choice % len(steps)].act)

    def crash(self, server, *, in_a_write):
        if self.server(server).is_up:
            choices = RecordedSchedule([int(in_a_write)])
            self.take(self.network.on_crash, self.server(server), choices)

    def rotate(self, server):
        if self.server(server).is_up:
            self.take(self.network.on_rotate, self.server(server))

    def purgeable(self):
        servers = self.network.servers
        return [one.name for one in servers if one.is_up and self.network.purgeable(one)]

    def purge(self, server, kept):
        self.take(self.network.on_purge, self.server(server), RecordedSchedule([kept]))

    def lose_first(self):
        for step in self.network.loss_steps(self.plainest) if self.network.budget.losses else ():
            self.take(step.act)

    def go_on_with_failover(self):
        for step in list(self.network.topology_steps(self.plainest))[:1]:
            self.take(step.act)

    def finish(self):
        self.network.to_write = 0
        while not self.network.is_circling:
            steps = list(self.network.progress_steps(self.plainest))
            if not steps:
                break
            self.take(steps[0].act)
        for server in self.network.servers:
            if server.is_up:
                self.network.state_positions(server)

    def history(self):
        return self.recorder.history(HistoryHeader()).check()
