"""Properties catch the faults that they are about on default runs of one dialect."""

from __future__ import annotations

import pytest

from paraply.exploring.generated.forking import Forks
from paraply.exploring.generated.reference import ReferenceCampaign
from paraply.mining.judges import is_expected
from paraply.properties.registry import registered_properties

HEALTHY = 40
FAULTS = [
    (
        "only_the_primary_takes_writes",
        "group mysql_8_4",
        "group.member",
        "Member.on_members_known:`0` → `1`",
    ),
    (
        "transactions_end_where_they_began",
        "gap_free allocates_early",
        "mariadb_gtid.gap_free",
        "GapFreeServers.on_commit:`one.early or self.numbered(one.schema)` → `self.numbered",
    ),
    (
        "only_small_transactions_are_merged",
        "wl4648 c4",
        "wl4648.merging",
        "is_full:`is_alone or len(sizes) >= merged or max(*sizes, size) > S...` → "
        "`len(sizes) >= merged`",
    ),
    (
        "waits_for_readers_time_out_in_circles",
        "wl4648 p3_serializable",
        "wl4648.parts",
        "SerializableRowsReplica.progress_steps:"
        "`steps.append(Step('read on', self.on_read_row))` → `pass`",
    ),
    (
        "positions_are_saved_when_due",
        "wl4648 c0",
        "wl4648.recovery",
        "CommitWatermark.is_due:`len(replica.executed) - self.checkpoint >= len(replica.wo...` → "
        "`len(replica.executed) - self.checkpoint < ",
    ),
    (
        "gtid_sets_are_in_shortest_form",
        "group mysql_8_4",
        "certification.gtids",
        "format_gtid_set:`':'`",
    ),
    (
        "syncs_and_commits_take_their_time",
        "semi_sync_clock mysql_ordered",
        "semi_sync.timed_cluster",
        "TimedCluster.end:`if what.endswith('syncs'):     if self.queued.get(step.la...` → "
        "`if False",
    ),
    (
        "servers_recover_once_after_a_crash",
        "semi_sync after_sync",
        "semi_sync.faults",
        "Faults.on_returned:`True` → `False`",
    ),
    (
        "stopped_servers_are_silent",
        "semi_sync after_sync",
        "semi_sync.faults",
        "Faults.on_returned:`True` → `False`",
    ),
    (
        "only_used_gtids_are_refused",
        "certifier_retries mysql_8_0",
        "certification.certifier",
        "Certifier.is_taken:`if gtid not in self.taken_gtids():     return False` → `if False",
    ),
    (
        "clients_are_served_to_the_end",
        "gtid_topology strict",
        "mariadb_gtid.topologies",
        "Failover.topology_steps:`if all((self.has_caught_up(link) for link in self.links))...` → "
        "`if False",
    ),
    (
        "clients_are_served_to_the_end",
        "group mysql_8_4",
        "group.member",
        "Member.on_members_known:`self.primary = candidates[0]` → `pass`",
    ),
    (
        "queues_have_at_most_the_configured_groups",
        "mariadb_parallel optimistic",
        "mariadb.driver",
        "Driver.worker_for:`len(self.queues[worker]) < self.settings.queued_max` → "
        "`len(self.queues[worker]) <= ",
    ),
    (
        "sources_send_what_follows_the_position",
        "gtid_topology strict",
        "mariadb_gtid.binlog_files",
        "Binlog.find_start:`self.to_skip(listed, asked, own)` → `self.to_skip(asked, ",
    ),
    (
        "known_positions_are_accepted",
        "gtid_topology strict",
        "mariadb_gtid.binlog_files",
        "Binlog.is_known:`return any((entry.domain == domain for entry in state))` → `return True`",
    ),
    (
        "commits_reach_their_end",
        "semi_sync_clock global_mutex",
        "semi_sync.staging",
        "Staging.may_flush:`return not self.groups and (not self.is_rotating)` → `return None`",
    ),
    (
        "attempts_take_their_steps_in_order",
        "mariadb_parallel optimistic",
        "mariadb.replica",
        "ParallelReplica.on_prior_failed:`group.stage is not Stage.ADMITTED and "
        "group.is_transactional` → `group.stage is not Stage.ADMITTED or",
    ),
]


@pytest.mark.long(each=4)
@pytest.mark.parametrize(("name", "where", "module", "change"), FAULTS)
def test_property_catches_the_fault_on_default_runs(name, where, module, change):
    campaign = ReferenceCampaign(each=HEALTHY, seed=2, where=where)
    path = f"paraply.reference_impl.{module}"
    (mutant,) = [
        one for one in campaign.mutants([path]) if one.name.startswith(f"{path}:{change}")
    ][:1]
    (prop,) = [one for one in registered_properties() if one.name == name]

    def breaches(run):
        try:
            history, _ = run.again()
        except Exception:
            return False
        return bool(prop.violations(history)) and not is_expected(
            run.subject, run.workload, prop, history
        )

    def caught(mutation):
        before = any(map(breaches, campaign.runs))
        campaign._functions.load(mutation, mutant.module)
        return not before and any(map(breaches, campaign.runs))

    # In a fork, so that the fault stays there.
    assert list(Forks(caught, lambda _: False).over([mutant.mutation])) == [True]
