"""Start the servers of each target for client workloads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial

from paraply.adapters.binlog.transactions import read_transactions
from paraply.adapters.live.clients.options import ClientOptions, Route
from paraply.adapters.live.clients.site import Site
from paraply.adapters.live.clients.workloads import client_schema, client_tables
from paraply.adapters.live.existing.lab import ExistingLab
from paraply.adapters.live.galera.lab import GaleraLab, find_provider
from paraply.adapters.live.group.target import MULTI_PRIMARY
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
    make: Callable[[LiveRequest], PairLab], request: LiveRequest, options: ClientOptions
) -> Iterator[Site]:
    if options.reads is Route.SOURCE:
        request = replace(request, replicas=0)
    with make(request) as lab:
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
        )


@contextmanager
def _galera(request: LiveRequest, options: ClientOptions) -> Iterator[Site]:
    find_provider()
    with ServerRoom(keep=request.keep) as room:
        lab = GaleraLab(request, room, shows_appliers=False)
        first = lab.members[0]
        first.run(client_schema(_SCHEMA, options.keys))
        lab.wait_until_at_rest()
        yield Site(
            version_text=lab.installation.version_text,
            schema=_SCHEMA,
            writers=lab.members,
            log=partial(logged_by, first),
            at_rest=lab.wait_until_at_rest,
        )


@contextmanager
def _group(request: LiveRequest, options: ClientOptions) -> Iterator[Site]:
    installation = find_mysql(request.basedir)
    is_multi_primary = request.mode == MULTI_PRIMARY
    with ServerRoom(keep=request.keep) as room:
        group = GroupReplication.provision(
            room, installation, size=_MEMBERS, is_multi_primary=is_multi_primary
        )
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
            log=partial(logged_by, first),
            at_rest=at_rest,
        )


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
    "mariadb": partial(_pair, MariadbLab),
    "mysql": partial(_pair, MysqlLab),
    "galera": _galera,
    "mysql-gr": _group,
    "mariadb-semisync": partial(_semi_sync, SemiSyncLab),
    "mysql-semisync": partial(_semi_sync, MysqlSemiSyncLab),
    "existing": _existing,
}
