"""Servers that replicate by MariaDB GTID as a subject; dialects are rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from paraply.reference_impl.causes import ORDER_LOST
from paraply.reference_impl.mariadb_gtid.network import Network, NetworkBudget
from paraply.reference_impl.mariadb_gtid.servers import Link, Server
from paraply.reference_impl.mariadb_gtid.topologies import (
    Diamond,
    Failover,
    MultiSource,
    Restore,
    Ring,
    SwitchOver,
)
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import (
    Cause,
    KnownBreaches,
    Option,
    Subject,
    Workload,
    register_subject,
)
from paraply.vocabulary.history import OptionValue
from paraply.vocabulary.schedule import Schedule

OWN_DOMAIN_STEP = 10
"""Leaves space for schema hashes."""
SCHEMAS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Servers, first writers and links by number."""

    network: type[Network]
    servers: int
    writers: tuple[int, ...]
    links: tuple[tuple[int, int], ...]
    """Source and replica."""


SHAPES = {
    "failover": Shape(network=Failover, servers=3, writers=(1,), links=((1, 2), (1, 3))),
    "ring": Shape(network=Ring, servers=3, writers=(1, 2, 3), links=((3, 1), (1, 2), (2, 3))),
    "multi_source": Shape(
        network=MultiSource, servers=4, writers=(1, 2), links=((1, 3), (2, 3), (3, 4))
    ),
    "diamond": Shape(
        network=Diamond, servers=4, writers=(1,), links=((1, 2), (1, 3), (2, 4), (3, 4))
    ),
    "switch_over": Shape(network=SwitchOver, servers=2, writers=(1,), links=((1, 2),)),
    "restore": Shape(network=Restore, servers=3, writers=(1,), links=((1, 3),)),
}
ANY = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Rules of a dialect."""

    is_strict: bool = True
    warns: bool = False
    shares_domain: bool = False
    """Contrary to the text."""
    is_out_of_order: bool = False
    """Replicas reorder schemas, as MySQL 5.6 does."""
    goes_back: bool = False


RULES = {
    "strict": Rules(),
    "warning": Rules(is_strict=False, warns=True),
    "silent": Rules(is_strict=False),
    "shared_strict": Rules(shares_domain=True),
    "shared_warning": Rules(is_strict=False, warns=True, shares_domain=True),
    "shared_silent": Rules(is_strict=False, shares_domain=True),
    "out_of_order": Rules(is_strict=False, is_out_of_order=True),
    "going_back": Rules(is_strict=False, goes_back=True),
}
"""``warning`` follows the text, ``silent`` the shipped server."""


_NO_SINGLE_POSITION = frozenset({"a_single_position_exists", "no_event_is_lost"})
_NO_ORDER = _NO_SINGLE_POSITION | {
    "logs_agree_within_a_domain",
    "no_event_is_applied_twice",
    "sequences_rise_within_a_domain",
}
_UNNOTICED = frozenset({"smaller_numbers_are_noticed"})
_NEVER_SMALLER = _UNNOTICED | {"a_smaller_number_arrives"}


class TopologySubject(Subject):
    """Servers, links and clients."""

    name = "gtid_topology"
    meaning = "MariaDB servers that replicate by GTID: fail-over, rings, several sources, restore"
    source = "More on global transaction ID in MariaDB, 2013; facts on MariaDB, section 2"
    dialects = tuple(RULES)
    options = (
        Option(name="topology", default=ANY, choices=(ANY, *SHAPES), meaning="who follows whom"),
        Option(
            name="schemas",
            default=SCHEMAS,
            least=1,
            greatest=8,
            meaning="schemas, each with a domain of its own where one server writes",
        ),
        Option(name="filter", default=False, meaning="s3 leaves out domain 1 (IGNORE_DOMAIN_IDS)"),
        Option(name="crashes", default=1, meaning="how often a server crashes"),
        Option(name="rotations", default=1, meaning="rotations of binary logs"),
        Option(name="holes", default=1, meaning="sequence numbers that are left out"),
        Option(name="losses", default=2, meaning="sources that are lost or replaced"),
        Option(name="purges", default=0, meaning="purges of binary logs"),
    )
    breaks: ClassVar[Mapping[str, frozenset[str]]] = {
        "shared_strict": _NO_SINGLE_POSITION,
        "shared_warning": _NO_ORDER,
        "shared_silent": _NO_ORDER | _UNNOTICED,
        "out_of_order": _NO_ORDER
        | _UNNOTICED
        | {
            "domains_are_applied_as_received",
            "elected_source_has_what_survivors_have",
        },
        # Measured on 10.11.19: after a rewind, rotation and restart reuse the greater numbers.
        "going_back": _NO_ORDER
        | _UNNOTICED
        | {
            "known_positions_are_accepted",
            "next_number_is_greatest_seen_plus_one",
            "gtids_name_one_transaction",
        },
    }
    causes: ClassVar[Mapping[str, Cause]] = dict.fromkeys(
        _NO_ORDER
        | _UNNOTICED
        | {
            "domains_are_applied_as_received",
            "elected_source_has_what_survivors_have",
            "gtids_name_one_transaction",
            "known_positions_are_accepted",
            "next_number_is_greatest_seen_plus_one",
        },
        ORDER_LOST,
    )
    follows = (
        KnownBreaches(
            where="any options",
            applies=lambda _: True,
            breaks=frozenset({"elected_source_has_what_survivors_have"}),
            because="a server compares its position with the others' by numbers that went back",
            cause=ORDER_LOST,
            dialects=frozenset({"going_back"}),
        ),
        KnownBreaches(
            where="any options",
            applies=lambda _: True,
            breaks=frozenset({"only_known_groups_are_passed_over"}),
            because="gtid_ignore_duplicates compares numbers, which have to rise in a domain",
            cause=ORDER_LOST,
            dialects=frozenset({"going_back", "out_of_order"}),
        ),
        KnownBreaches(
            where="any options",
            applies=lambda _: True,
            breaks=frozenset({"known_positions_are_accepted"}),
            because="a source compares a position with the last number of its domain, which fell",
            cause=ORDER_LOST,
            dialects=frozenset({"out_of_order"}),
        ),
        KnownBreaches(
            where="any options",
            applies=lambda _: True,
            breaks=frozenset({"received_groups_are_applied_before_a_promotion"}),
            because="an operator compares positions, which pass what is not yet applied",
            cause=ORDER_LOST,
            dialects=frozenset({"out_of_order"}),
        ),
    )
    unreachable: ClassVar[Mapping[str, frozenset[str]]] = {
        "": frozenset(
            {
                "executed_set_has_a_hole",
                "executed_sets_close_their_holes",
                "nothing_is_sent_again",
                "auto_position_finds_what_it_asks",
            }
        ),
        "strict": _NEVER_SMALLER,
        "warning": _NEVER_SMALLER,
        "silent": _NEVER_SMALLER,
    }

    def simulate(
        self,
        schedule: Schedule,
        workload: Workload,
        dialect: str,
        options: Mapping[str, OptionValue],
        recorder: Recorder,
    ) -> tuple[str, ...]:
        """Run until no step remains."""
        network = self.network(schedule, workload, dialect, options, recorder)
        network.run(schedule)
        return tuple(server.name for server in network.servers)

    def network(
        self,
        schedule: Schedule,
        workload: Workload,
        dialect: str,
        options: Mapping[str, OptionValue],
        recorder: Recorder,
    ) -> Network:
        """Return a topology's servers."""
        rules = RULES[dialect]
        name = str(options["topology"])
        if name == ANY:
            name = schedule.choose(tuple(SHAPES), "topology")
        shape = SHAPES[name]
        has_own_domains = len(shape.writers) > 1 and not rules.shares_domain
        has_schema_domains = len(shape.writers) == 1 and not rules.is_out_of_order
        servers = [
            Server(
                number,
                domain=OWN_DOMAIN_STEP * number if has_own_domains else 0,
                is_strict=rules.is_strict,
                warns=rules.warns,
                ignores_duplicates=name == "diamond",
                filters=frozenset({1} if options["filter"] and number == 3 else ()),
                is_writable=number in shape.writers,
            )
            for number in range(1, shape.servers + 1)
        ]
        return shape.network(
            recorder,
            NetworkBudget(**{n: int(options[n]) for n in NetworkBudget.__dataclass_fields__}),
            workload.transactions,
            int(options["schemas"]),
            has_schema_domains=has_schema_domains,
            applies_out_of_order=rules.is_out_of_order,
            goes_back=rules.goes_back,
            servers=servers,
            links=[Link(servers[a - 1], servers[b - 1]) for a, b in shape.links],
        )


GTID_TOPOLOGY = register_subject(TopologySubject())
