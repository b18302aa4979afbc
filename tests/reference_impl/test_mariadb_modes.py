"""MariaDB's parallel modes: what each keeps, what it must break, and the protocol step by step."""

from __future__ import annotations

from functools import cache
from itertools import islice

import pytest

from paraply.properties.apply.stream import LOCK_WAIT_TIMEOUT
from paraply.properties.registry import Expectation
from paraply.properties.search import random_schedules
from paraply.reference_impl.applier.row_store import RowStore
from paraply.reference_impl.mariadb.driver import Settings
from paraply.reference_impl.mariadb.groups import Entry, EventGroup, Stage
from paraply.reference_impl.mariadb.modes import Mode, Rules
from paraply.reference_impl.mariadb.replica import ParallelReplica
from paraply.reference_impl.mariadb.source import SCHEMAS, domain_of_schema
from paraply.reference_impl.mariadb.subject import MARIADB_PARALLEL
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import Workload
from paraply.reference_impl.workloads.small_logs import small_group_log
from paraply.registries import property_named
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import HistoryHeader
from paraply.vocabulary.schedule import Exploration, SeededSchedule
from tests.properties.histories import history_of
from tests.reference_impl.judges import judges_of
from tests.reference_impl.reference_clocks import mode_run, store_before


@cache
def judges():
    return judges_of(MARIADB_PARALLEL)


SETTINGS = (
    {},
    {"failures": 1, "timeouts": 1, "reads": 3, "stops": 2},
    {"domain_workers": 2, "workers": 4, "failures": 2, "queued_max": 1},
    {"restarts": 2, "stops": 0, "marks": 0},
    {"extra_locks": "any", "commit_groups": False, "workers": 4, "ddl": 0},
)


@pytest.mark.long
@pytest.mark.parametrize("dialect", MARIADB_PARALLEL.dialects)
@pytest.mark.parametrize("options", SETTINGS, ids=str)
def test_no_schedule_breaks_what_the_mode_keeps(dialect, options):
    known = MARIADB_PARALLEL.breaks.get(dialect, frozenset())
    workload = Workload(transactions=5, rows=4, dialect=dialect, options=options)
    for schedule in random_schedules(0, 25):
        history = MARIADB_PARALLEL.run(schedule, workload).check()
        assert history.events[-1].kind is EventKind.STOPPED, "it stalls or fails"
        for prop in judges().values():
            if prop.name not in known:
                assert not prop.violations(history), (prop.name, schedule.seed)


@pytest.mark.parametrize(
    ("dialect", "name"),
    [(d, n) for d, names in MARIADB_PARALLEL.breaks.items() for n in sorted(names)],
)
def test_breach_that_a_mode_is_known_for_is_found(dialect, name):
    ddl = int(name == "no_conflicting_parallel_apply")
    options = {"reads": 4, "stops": 0, "extra_locks": "none", "ddl": ddl}
    workload = Workload(transactions=5, rows=4, dialect=dialect, options=options)
    runs = (MARIADB_PARALLEL.run(schedule, workload) for schedule in random_schedules(0, 3000))
    assert any(judges()[name].violations(history) for history in runs)


@pytest.mark.long(quick=3)
@pytest.mark.parametrize(
    ("dialect", "name"),
    [
        (dialect, prop.name)
        for dialect in ("optimistic", "conservative", "optimistic_by_schema")
        for prop in judges().values()
        if prop.expectation is Expectation.SOMETIMES
        and prop.name not in MARIADB_PARALLEL.unreachable_in(dialect)
    ],
)
def test_situation_is_reached(dialect, name):
    options = {"failures": 1, "reads": 2, "timeouts": 1}
    workload = Workload(transactions=5, rows=3, dialect=dialect, options=options)
    runs = (MARIADB_PARALLEL.run(schedule, workload) for schedule in random_schedules(3, 1500))
    assert any(judges()[name].witness(history) for history in runs)


PLAIN = {"reads": 0, "stops": 0, "ddl": 0, "marks": 0, "extra_locks": "none"}

SCOPE = PLAIN | {"workers": 2, "eager": True}


# Pinned: a change in the number of runs is a change of the subject.
@pytest.mark.long
@pytest.mark.parametrize(
    ("dialect", "runs"),
    [("none", 28), ("minimal", 100), ("conservative", 111), ("optimistic", 444)],
)
def test_every_run_of_two_transactions_keeps_what_the_mode_keeps(dialect, runs):
    known = MARIADB_PARALLEL.breaks.get(dialect, frozenset())
    workload = Workload(transactions=2, rows=2, dialect=dialect, options=SCOPE)
    exploration = Exploration()
    for schedule in exploration:
        history = MARIADB_PARALLEL.run(schedule, workload)
        for prop in judges().values():
            assert prop.name in known or not prop.violations(history), (prop.name, history)
    assert exploration.is_complete
    assert exploration.count == runs


# The driver's decisions.


def log_of(text):
    """Return the transactions of ``cid`` words: a number, ``-`` for none, W, S, M or D after it.

    W waited, S skip_parallel_replication, M a table without transactions, D a DDL.
    """
    listed = []
    for number, word in enumerate(text.split(), start=1):
        cid, mark = word.rstrip("WSMD"), word.lstrip("-0123456789")
        kind = ":ddl" if mark == "D" else f"{{r{number}}}"
        flags = {
            "": "allow_parallel,transactional",
            "W": "allow_parallel,transactional,waited",
            "S": "transactional",
            "M": "allow_parallel",
            "D": "ddl",
        }[mark]
        commit = "" if cid == "-" else f" commit_id={cid}"
        change = "" if mark == "D" else f' +d.t["r{number}",{number}]'
        listed.append(f"T{number}{kind} gtid=0-1-{number} domain=0{commit} flags={flags}{change}")
    return history_of(" | ".join(listed) + " |").transactions


@pytest.mark.parametrize(
    ("mode", "log", "decisions"),
    [
        (Mode.MINIMAL, "5 5 6", "0no 1no 2no"),
        (Mode.CONSERVATIVE, "5 5 6 6 - -", "0no 0no 2no 2no 4no 5no"),
        (Mode.CONSERVATIVE, "5 5W -D 6 6", "0no 0no 2no 3no 3no"),
        (Mode.OPTIMISTIC, "5 5 6 6", "0no 0no 0optimistic 0optimistic"),
        (Mode.OPTIMISTIC, "- -W -S -M", "0no 0wait 0wait 0wait"),
        (Mode.AGGRESSIVE, "- -W -S -M", "0no 0optimistic 0optimistic 0wait"),
        (Mode.OPTIMISTIC, "- -D - -", "0no 1no 2no 2optimistic"),
        # A commit group that begins a batch is trusted; the same group further on is not.
        (Mode.OPTIMISTIC, "-D 5 5 - 6 6", "0no 1no 1no 1optimistic 1optimistic 1optimistic"),
    ],
)
def test_group_goes_where_the_mode_puts_it(mode, log, decisions):
    entry, found, rules = Entry([None]), [], Rules(mode)
    for number, transaction in enumerate(log_of(log), start=1):
        batch, speculation = rules.decide(entry, transaction)
        entry.queued_count += 1
        entry.groups.append(
            EventGroup(
                transaction=transaction,
                sub_id=number,
                entry=entry,
                batch=batch,
                speculation=speculation,
                worker=1,
                before=None,
            )
        )
        found.append(f"{batch.wait_count}{speculation.value}")
    assert " ".join(found) == decisions


# The protocol of the workers, by hand.


class ByHand:
    """A replica that has dealt its whole log and takes the steps it is told to."""

    def __init__(self, log, mode=Mode.CONSERVATIVE, *, locks=None, **settings):
        self.recorder = Recorder()
        self.recorder.transactions = list(log)
        self.replica = ParallelReplica(
            log,
            self.recorder,
            Settings(rules=Rules(mode), workers=8, **settings),
            store=RowStore(),
            extra_locks=locks or {},
        )
        while steps := list(self.replica.driver_steps()):
            steps[0].act()
        self.groups = {group.id: group for group in self.replica.under_way}

    def may_move(self, number):
        return self.replica.step_of(self.groups[number]) is not None

    def move(self, number, until):
        group = self.groups[number]
        while group.stage is not until:
            step = self.replica.step_of(group)
            assert step is not None, f"T{number} waits in {group.stage}, not yet {until}"
            step()

    def settle(self):
        while steps := list(self.replica.progress_steps()):
            steps[0].act()
        self.replica.on_end()
        return self.recorder.history(HistoryHeader()).check()


def test_barrier_opens_when_the_batch_before_has_started_to_commit_and_not_committed():
    run = ByHand(log_of("5 5 -"))
    run.move(1, Stage.COMMITTING)
    run.move(2, Stage.ENDED)
    assert not run.may_move(3)
    run.move(2, Stage.COMMITTING)
    assert run.may_move(3)
    assert run.replica.executed == []


def test_barrier_closes_again_when_a_commit_start_is_revoked():
    # T2 holds a row beside its own; T1 of the same commit group needs it.
    log = log_of("5 5 -")
    run = ByHand(log, locks={2: "r1"})
    run.move(2, Stage.COMMITTING)
    run.move(1, Stage.APPLYING)
    run.replica.step_of(run.groups[1])()
    assert run.groups[1].waits_for_row == "r1"
    (kill,) = run.replica.kill_steps()
    kill.act()
    assert run.groups[1].entry.committing_count == 1
    run.replica.step_of(run.groups[2])()
    assert run.groups[1].entry.committing_count == 0
    run.move(2, Stage.RETRYING)
    run.move(1, Stage.COMMITTING)
    assert not run.may_move(3)
    assert not run.may_move(2)
    history = run.settle()
    assert property_named("commit_start_is_revoked").witness(history)
    assert run.replica.executed == [1, 2, 3]


def test_transactions_that_wait_are_pulled_into_the_group_of_the_first_transitively():
    run = ByHand(log_of("5 5 5 5"))
    for number in (3, 2):
        run.move(number, Stage.COMMITTING)
        assert not run.may_move(number)
    run.move(1, Stage.IN_QUEUE)
    assert [group.id for group in run.replica.binlog_queue] == [1, 2, 3]
    run.move(4, Stage.IN_QUEUE)
    history = run.settle()
    groups = {event.group for event in history.events_of(EventKind.ENGINE_COMMITTED)}
    assert groups == {1}


def test_latecomer_joins_the_next_group_when_the_leader_has_gone():
    run = ByHand(log_of("5 5"))
    run.move(1, Stage.IN_QUEUE)
    run.replica.on_group_flushed()
    run.move(2, Stage.IN_QUEUE)
    history = run.settle()
    groups = [event.group for event in history.events_of(EventKind.ENGINE_COMMITTED)]
    assert groups == [1, 2]


def test_error_lets_nothing_after_it_commit_and_everything_before_it():
    run = ByHand(log_of("5 5 5 -"), failures=1)
    run.move(3, Stage.COMMITTING)
    run.move(2, Stage.APPLYING)
    run.replica.on_failure(run.groups[2])
    assert not run.may_move(2), "it waits for T1 before it tells T3"
    run.move(1, Stage.COMMITTING)
    history = run.settle()
    notes = {event.transaction: event.note for event in history.events_of(EventKind.ROLLED_BACK)}
    assert notes == {3: "prior commit failed"}
    first_stop = next(event for event in history.events if event.kind is EventKind.STOPPED)
    assert first_stop.transactions == (1,)
    assert run.replica.executed == [1, 2, 3, 4], "the next start goes on"


def test_stop_completes_what_has_started_and_all_before_it():
    run = ByHand(log_of("5 5 5"))
    run.move(2, Stage.ADMITTED)
    run.replica.on_stop()
    history = run.settle()
    first_stop = next(event for event in history.events if event.kind is EventKind.STOPPED)
    assert first_stop.transactions == (1, 2)
    assert first_stop.gtid_set == "0-1-2"


def test_error_without_a_cause_outside_ends_the_replica():
    log = history_of('| T1{a} gtid=0-1-1 domain=0 flags=transactional ~d.t["a",1]["a",2] |')
    run = ByHand(log.transactions)
    history = run.settle()
    assert history.events[-1].kind is EventKind.FAILED
    assert run.replica.has_failed


def test_transaction_past_its_retries_fails():
    run = ByHand(log_of("- -"), Mode.OPTIMISTIC, retries_max=0)
    run.move(2, Stage.APPLYING)
    run.replica.on_timeout(run.groups[2])
    history = run.settle()
    (failed,) = history.events_of(EventKind.FAILED)
    assert (failed.transaction, failed.note) == (2, "lock wait timeout")


def test_schemas_hash_to_different_domains_of_the_ten():
    domains = [domain_of_schema(schema) for schema in range(len(SCHEMAS))]
    assert len(set(domains)) == len(SCHEMAS)
    assert all(20 <= domain < 30 for domain in domains)


@pytest.mark.long(quick=2)
@pytest.mark.parametrize(
    ("dialect", "first_seed"),
    [("conservative_by_schema", 0), ("optimistic_by_schema", 750)],  # seldom in optimistic
)
@pytest.mark.parametrize("commit_groups", [True, False])
def test_only_a_time_out_ends_a_wait_between_domains_where_a_commit_id_is_trusted(
    dialect, first_seed, commit_groups
):
    # Seen on a server too: test_live_parallel_modes.
    options = {"extra_locks": "any", "workers": 4, "commit_groups": commit_groups}
    workload = Workload(transactions=6, rows=4, dialect=dialect, options=PLAIN | options)
    seeds = range(first_seed, first_seed + 1000)
    runs = (MARIADB_PARALLEL.run(SeededSchedule(seed), workload) for seed in seeds)

    def has_timed_out(run):
        return any(one.note == LOCK_WAIT_TIMEOUT for one in run.events_of(EventKind.ROLLED_BACK))

    if commit_groups:
        ended = next(filter(has_timed_out, runs))
        assert any(one.commit_id for one in ended.transactions)
        assert not judges()["replica_never_stalls"].violations(ended)
        assert not judges()["applied_exactly_once"].violations(ended)
    else:
        assert not any(map(has_timed_out, islice(runs, 150)))


def test_without_workers_every_mode_is_mode_none():
    events = set()
    for dialect in ("none", "conservative", "optimistic"):
        workload = Workload(transactions=4, dialect=dialect, options={"workers": 0, "stops": 1})
        runs = [MARIADB_PARALLEL.run(schedule, workload) for schedule in random_schedules(0, 10)]
        assert not any(property_named("two_transactions_overlap").witness(run) for run in runs)
        events.add(tuple(run.events for run in runs))
    assert len(events) == 1


@pytest.mark.long
def test_commit_ids_repeat_after_a_restart_of_the_source():
    workload = Workload(
        transactions=5, rows=4, dialect="conservative", options=PLAIN | {"restarts": 1}
    )
    repeated = 0
    for schedule in random_schedules(0, 200):
        history = MARIADB_PARALLEL.run(schedule, workload)
        runs = [
            {one.commit_id for one in history.transactions if one.clock == clock}
            for clock in (0, 1)
        ]
        repeated += bool((runs[0] & runs[1]) - {None})
    assert repeated


def test_long_running_statement_runs_beside_the_rest_in_a_domain_of_its_own():
    workload = Workload(
        transactions=4, rows=3, dialect="optimistic_long_running", options=PLAIN | {"workers": 3}
    )
    overtaken = 0
    for seed in range(60):
        history = MARIADB_PARALLEL.run(SeededSchedule(seed), workload)
        long_ones = [one.id for one in history.transactions if one.domain == 2]
        assert len(long_ones) <= 1
        commits = [event.transaction for event in history.events_of(EventKind.ENGINE_COMMITTED)]
        if long_ones and any(one > long_ones[0] for one in commits[: commits.index(long_ones[0])]):
            overtaken += 1
    assert overtaken > 10


# The clock.

NO_CONFLICTS = small_group_log(64, 60)
HOT = small_group_log(6, 60)


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("log", [NO_CONFLICTS, HOT], ids=["spread", "hot"])
def test_log_on_the_clock_is_applied_in_order_with_any_number_of_workers(mode, log):
    serial = mode_run(log, Mode.NONE, workers=1)
    rows = sum(len(one.rows) for one in log)
    assert serial.ticks == rows + len(log)
    for workers in (1, 2, 8):
        run = mode_run(log, mode, workers=workers)
        assert run.has_finished
        assert list(run.engine_commits) == [one.id for one in log]
        assert list(run.engine_commits.values()) == sorted(run.engine_commits.values())
        assert not property_named("no_conflicting_parallel_apply").violations(run.history)
        if workers == 1:
            assert run.ticks == serial.ticks


def test_modes_that_dare_more_are_faster_where_nothing_conflicts():
    ticks = [mode_run(NO_CONFLICTS, mode, workers=8).ticks for mode in Mode]
    assert ticks[0] > ticks[1] > ticks[2] > ticks[3] == ticks[4]


def test_group_commit_saves_syncs_and_minimal_never_waits_for_another():
    assert mode_run(NO_CONFLICTS, Mode.OPTIMISTIC, workers=8).commit_groups < len(NO_CONFLICTS) / 3
    assert mode_run(NO_CONFLICTS, Mode.MINIMAL, workers=8).commit_groups == len(NO_CONFLICTS)


def test_speculation_on_hot_rows_pays_with_retries():
    few, many = (mode_run(HOT, Mode.OPTIMISTIC, workers=workers) for workers in (2, 8))
    assert few.retries < many.retries
    assert many.ticks > few.ticks
    assert mode_run(HOT, Mode.CONSERVATIVE, workers=8).retries == 0


def test_store_holds_what_the_first_change_of_a_row_expects():
    log = history_of(
        '| T1{a} ~d.t["a",7]["a",8] | T2{a} ~d.t["a",8]["a",9] | T3{b} +d.t["b",1] |'
    ).transactions
    store = store_before(log)
    assert [version.value for _, version in store.newest()] == [7, None]
    assert mode_run(log, Mode.OPTIMISTIC, workers=3).has_finished


def outcomes(history):
    """Return what a run came to, without when its steps were taken."""
    kinds = (EventKind.FLUSHED, EventKind.ENGINE_COMMITTED, EventKind.ROLLED_BACK)
    return history.transactions, tuple(
        (event.kind, event.transaction, event.attempt, event.group, event.note)
        for event in history.events_of(*kinds)
    )


@pytest.mark.parametrize("dialect", ["minimal", "conservative"])
def test_silent_steps_leave_every_outcome_of_a_scope(dialect):
    def every(**options):
        scope = PLAIN | {"workers": 2, **options}
        workload = Workload(transactions=2, rows=1, dialect=dialect, options=scope)
        runs = [outcomes(MARIADB_PARALLEL.run(one, workload)) for one in Exploration()]
        return len(runs), set(runs)

    count, all_outcomes = every()
    fewer, outcomes_left = every(eager=True)
    assert outcomes_left == all_outcomes
    assert fewer * 5 < count
