"""Start the servers of each target for client workloads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial

from paraply.adapters.binlog.transactions import read_transactions
from paraply.adapters.live.clients.options import ClientOptions, Route
from paraply.adapters.live.clients.site import Site
from paraply.adapters.live.clients.workloads import client_schema, client_tables
from paraply.adapters.live.existing.lab import ExistingLab
from paraply.adapters.live.galera import recovery as galera_recovery
from paraply.adapters.live.galera.lab import GaleraLab, find_provider
from paraply.adapters.live.group import recovery as group_recovery
from paraply.adapters.live.group.target import MULTI_PRIMARY
from paraply.adapters.live.nemeses.choosing import equipment_of
from paraply.adapters.live.nemeses.field import Equipment, Field
from paraply.adapters.live.pair import recovery as pair_recovery
from paraply.adapters.live.pair.faults import wait_until
from paraply.adapters.live.pair.lab import PairLab
from paraply.adapters.live.pair.mariadb.lab import MariadbLab
from paraply.adapters.live.pair.mysql.lab import MysqlLab
from paraply.adapters.live.semi_sync.lab import SemiSyncLab
from paraply.adapters.live.semi_sync.mysql.lab import MysqlSemiSyncLab
from paraply.adapters.live.target import LiveRequest
from paraply.adapters.servers import Server, ServerRoom, find_mysql, wait_until_applied
from paraply.adapters.servers.binlog_dump import log_end
from paraply.adapters.servers.group_replication import GroupReplication
from paraply.adapters.servers.replication import executed_position, has_read_relay_log
from paraply.vocabulary.log import LoggedTransaction

_SCHEMA = "clients"
_MEMBERS = 3
_UNACKNOWLEDGED_S = 0.3
"""How long commits wait before the source is lost; readers go on."""
_READERS = 2
_IDLE_S = 0.5

Opens = Callable[[LiveRequest, ClientOptions], AbstractContextManager[Site]]


def open_site(
    target: str, request: LiveRequest, options: ClientOptions
) -> AbstractContextManager[Site]:
    """Start a target's servers with the clients' tables; closing stops them."""
    return _SITES[target](request, options)


def logged_by(server: Server) -> list[LoggedTransaction]:
    """Return the complete transactions of a server's log."""
    files = [str(file) for file in server.binary_logs()]
    return [one for one in read_transactions(files) if one.complete]


@contextmanager
def _pair(
    target: str,
    make: Callable[[LiveRequest], PairLab],
    request: LiveRequest,
    options: ClientOptions,
) -> Iterator[Site]:
    equipment = equipment_of(target, request)
    if options.reads is Route.SOURCE and equipment is None:
        request = replace(request, replicas=0)
    lab = make(request)
    with ExitStack() as stack:
        if equipment is not None:
            stack.enter_context(closing(equipment))
            lab.room.equip = equipment.equip
        stack.enter_context(lab)
        lab.source.run(client_schema(_SCHEMA, options.keys))

        def at_rest() -> None:
            for replica in lab.replicas:
                wait_until_applied(lab.source, replica)

        at_rest()
        yield Site(
            version_text=lab.installation.version_text,
            schema=_SCHEMA,
            writers=[lab.source],
            others=lab.replicas,
            log=partial(logged_by, lab.source),
            at_rest=at_rest,
            field=None if equipment is None else Field(
                members=[lab.source, *lab.replicas],
                equipment=equipment,
                view_of=partial(pair_recovery.view_of, lab),
                recover=partial(pair_recovery.recover, lab),
            ),
        )  # fmt: skip


def fullest_log(members: Sequence[Server]) -> list[LoggedTransaction]:
    """Return the longest log: a member that came back by a state transfer has a part of it."""
    return max(map(logged_by, members), key=len)


@contextmanager
def _equipped(target: str, request: LiveRequest) -> Iterator[tuple[ServerRoom, Equipment | None]]:
    """Open a room whose servers are equipped for the request's nemeses."""
    equipment = equipment_of(target, request)
    if equipment is None:
        with ServerRoom(keep=request.keep) as room:
            yield room, None
        return
    with (
        closing(equipment),
        ServerRoom(keep=request.keep, equip=equipment.equip) as room,
    ):
        yield room, equipment


@contextmanager
def _galera(request: LiveRequest, options: ClientOptions) -> Iterator[Site]:
    find_provider()
    with _equipped("galera", request) as (room, equipment):
        owners = None if equipment is None else equipment.owners
        lab = GaleraLab(request, room, shows_appliers=False, owners=owners)
        first = lab.members[0]
        first.run(client_schema(_SCHEMA, options.keys))
        lab.wait_until_at_rest()
        yield Site(
            version_text=lab.installation.version_text,
            schema=_SCHEMA,
            writers=lab.members,
            log=partial(fullest_log, lab.members),
            at_rest=lab.wait_until_at_rest,
            field=None if equipment is None else Field(
                members=lab.members,
                equipment=equipment,
                view_of=galera_recovery.view_of,
                recover=partial(galera_recovery.recover, lab),
            ),
        )  # fmt: skip


@contextmanager
def _group(request: LiveRequest, options: ClientOptions) -> Iterator[Site]:
    installation = find_mysql(request.basedir)
    is_multi_primary = request.mode == MULTI_PRIMARY
    with _equipped("mysql-gr", request) as (room, equipment):
        group = GroupReplication.provision(
            room,
            installation,
            size=_MEMBERS,
            is_multi_primary=is_multi_primary,
            options=() if equipment is None else group_recovery.OPTIONS,
        )
        if equipment is not None:
            equipment.owners |= {port: member for member, port in enumerate(group.ports)}
        group.bootstrap()
        first, *others = group.members
        first.run(client_schema(_SCHEMA, options.keys))
        group.wait_until_equal()

        def at_rest() -> None:
            group.wait_until_equal()

        yield Site(
            version_text=installation.version_text,
            schema=_SCHEMA,
            writers=group.members if is_multi_primary else [first],
            others=() if is_multi_primary else others,
            log=partial(fullest_log, group.members),
            at_rest=at_rest,
            field=None if equipment is None else Field(
                members=group.members,
                equipment=equipment,
                view_of=group_recovery.view_of,
                recover=partial(group_recovery.recover, group),
            ),
        )  # fmt: skip


@contextmanager
def _semi_sync(
    make: Callable[[LiveRequest, ServerRoom], SemiSyncLab],
    request: LiveRequest,
    options: ClientOptions,
) -> Iterator[Site]:
    with ServerRoom(keep=request.keep) as room:
        lab = make(request, room)
        lab.source.run(client_schema(_SCHEMA, options.keys))
        wait_until_applied(lab.source, lab.replica)

        def is_idle() -> bool:
            # The last transaction may be received in part, so log positions need not meet.
            before = executed_position(lab.replica)
            time.sleep(_IDLE_S)
            return has_read_relay_log(lab.replica) and executed_position(lab.replica) == before

        def lose_source() -> Sequence[str]:
            lab.replica.query(f"STOP {lab.applier} IO_THREAD")
            time.sleep(_UNACKNOWLEDGED_S)
            lab.source.kill()
            wait_until(is_idle, "end of the relay log", lab.replica)
            lab.replica.run([f"STOP {lab.applier}", f"RESET {lab.applier} ALL"])
            site.writers = [lab.replica]
            return ["the replica stopped receiving, the source was killed, the replica promoted"]

        site = Site(
            version_text=lab.installation.version_text,
            schema=_SCHEMA,
            writers=[lab.source],
            # Of the server that remains: what it received, and what it accepted after.
            log=partial(logged_by, lab.replica),
            midway=lose_source,
            readers=_READERS,
        )
        yield site


@contextmanager
def _existing(request: LiveRequest, options: ClientOptions) -> Iterator[Site]:
    with ExistingLab(request) as lab:
        start = log_end(lab.source)
        lab.source.run(client_tables(lab.schema, options.keys))

        def at_rest() -> None:
            for replica in lab.replicas:
                wait_until_applied(lab.source, replica)

        at_rest()
        yield Site(
            version_text=lab.source.version_text,
            schema=lab.schema,
            writers=[lab.source],
            others=lab.replicas,
            log=lambda: lab.log_since(lab.source, start),
            at_rest=at_rest,
        )


_SITES: dict[str, Opens] = {
    "mariadb": partial(_pair, "mariadb", MariadbLab),
    "mysql": partial(_pair, "mysql", MysqlLab),
    "galera": _galera,
    "mysql-gr": _group,
    "mariadb-semisync": partial(_semi_sync, SemiSyncLab),
    "mysql-semisync": partial(_semi_sync, MysqlSemiSyncLab),
    "existing": _existing,
}
