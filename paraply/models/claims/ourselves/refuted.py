"""Faults of this project's own algorithms, and logs that they must not judge."""

from __future__ import annotations

from paraply.models.claims.claim import Counterexample
from paraply.models.language.concrete import Scope
from paraply.models.systems.variants import (
    variant_of_linear_audit,
    variant_of_merged_parts,
    variant_of_minimiser,
    variant_of_prefix_test,
)

LOG = Scope(low=-1, high=3, size=1)
NUMBERS = Scope(low=0, high=2, size=1)
STATES = Scope(low=0, high=2, size=2)
TWO_RUNS = Scope(low=0, high=1, size=2)
THREE_RUNS = Scope(low=0, high=2, size=3)

_ALL_PAIRS = (
    "`tests/properties/test_safety_against_all_pairs.py` puts faults into the audit, and the "
    "definition over all pairs disagrees with each."
)
_SUMMARIES = (
    "`tests/properties/tables/test_timestamps.py` merges summaries in any grouping, and puts "
    "this kind of fault into them."
)
_BRUTE_FORCE = (
    "`tests/properties/two_logs/test_broken_rules.py` breaks the rule, and a search of all "
    "explanations disagrees."
)
_FOLLOWED = (
    "`tests/counterexamples/test_minimiser_follows_the_model.py` puts this fault into the "
    "minimiser, and the model refuses its steps."
)

REFUTED_ABOUT_OURSELVES = (
    Counterexample(
        id="C79", title="an audit that remembers the first toucher of a key",
        system=variant_of_linear_audit(name="first_toucher", remembers_newest=False),
        statement="silence_means_no_pair", scope=LOG, steps=3, elsewhere=_ALL_PAIRS,
        source="paraply/properties/logs/dependency_safety.py",
    ),
    Counterexample(
        id="C80", title="numbers that fall inside a run: the newest toucher is not the one to ask",
        system=variant_of_linear_audit(name="numbers_fall", ranks_rise=False),
        statement="silence_means_no_pair", scope=LOG, steps=3,
        source="assumption A20; the lint reports such numbers, and the audit is then unknown",
        elsewhere="`test_previous_writer_alone_is_not_enough_where_numbers_do_not_rise` in "
        "`tests/properties/tables/test_timestamps.py`.",
    ),
    Counterexample(
        id="C81", title="a run that comes back after another one",
        system=variant_of_linear_audit(name="runs_come_back", runs_follow=False),
        statement="silence_means_no_pair", scope=LOG, steps=3, elsewhere=_ALL_PAIRS,
        source="two logs read as one; domains are judged apart for this reason",
    ),
    Counterexample(
        id="C82", title="readers take the place of the writer",
        system=variant_of_linear_audit(name="one_memory", readers_apart=False),
        statement="a_finding_is_a_pair", scope=LOG, steps=2, elsewhere=_ALL_PAIRS,
        source="foreign keys: two children of one parent do not conflict",
    ),
    Counterexample(
        id="C83", title="a part without the key forgets who touched it before",
        system=variant_of_merged_parts(name="forgetful", remembers_across=False),
        statement="merging_from_the_left_gives_found", scope=NUMBERS, steps=4, elsewhere=_SUMMARIES,
        source="the classic error of merged summaries",
    ),
    Counterexample(
        id="C84", title="numbers are compared across a reset",
        system=variant_of_merged_parts(name="across_resets", resets_end_memory=False),
        statement="merging_from_the_left_gives_found", scope=NUMBERS, steps=5, elsewhere=_SUMMARIES,
        source="gh-ost pull request 1454: numbers of different files",
    ),
    Counterexample(
        id="C85", title="a search that begins at the source's beginning each time",
        system=variant_of_prefix_test(name="goes_back", never_goes_back=False),
        statement="no_reader_goes_back", scope=STATES, steps=2, elsewhere=_BRUTE_FORCE,
        source="a replica that shows old states again",
    ),
    Counterexample(
        id="C86", title="a test that takes any equal state, not the first",
        system=variant_of_prefix_test(name="takes_any", takes_the_first=False),
        statement="failing_means_no_explanation", scope=STATES, steps=2, elsewhere=_BRUTE_FORCE,
        source="states that occur more than once",
    ),
    Counterexample(
        id="C87", title="two states with one fingerprint",
        system=variant_of_prefix_test(name="collides", prints_differ=False),
        statement="what_is_shown_is_a_prefix", scope=STATES, steps=1, elsewhere=_BRUTE_FORCE,
        source="assumption A19; fingerprints are sums of 64-bit hashes",
    ),
    Counterexample(
        id="C107", title="a minimiser that takes a run whose verdict is unknown",
        system=variant_of_minimiser(name="takes_unknown", wants_a_breach=False),
        statement="the_verdict_is_kept", scope=TWO_RUNS, steps=1, elsewhere=_FOLLOWED,
        source="a run that was cut short, or a judge that gave up",
    ),
    Counterexample(
        id="C108", title="a minimiser that takes any breach",
        system=variant_of_minimiser(name="takes_any_breach", wants_the_same=False),
        statement="the_verdict_is_kept", scope=TWO_RUNS, steps=1, elsewhere=_FOLLOWED,
        source="slippage of test-case reducers: another bug of the same program",
    ),
    Counterexample(
        id="C109", title="a minimiser that takes runs that are not smaller",
        system=variant_of_minimiser(name="takes_any_size", wants_smaller=False),
        statement="it_never_grows", scope=TWO_RUNS, steps=1, elsewhere=_FOLLOWED,
        source="random runs of another workload, whose choices mean something else",
    ),
    Counterexample(
        id="C110", title="a minimiser that does not begin again after a change",
        system=variant_of_minimiser(name="one_round", begins_again=False),
        statement="minimal_is_one_minimal", scope=THREE_RUNS, steps=3, elsewhere=_FOLLOWED,
        source="one round of delta debugging is not one-minimal",
    ),
    Counterexample(
        id="C111", title="a minimiser that calls a run minimal where its budget ended",
        system=variant_of_minimiser(name="spent", admits_limits=False),
        statement="minimal_is_one_minimal", scope=TWO_RUNS, steps=1, elsewhere=_FOLLOWED,
        source="CHECK_RUNS_MAX and CHECK_CHOICES_MAX",
    ),
)  # fmt: skip
