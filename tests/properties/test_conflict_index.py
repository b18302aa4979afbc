"""Who touched a key last in another domain: the index against a list of all touches."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from paraply.properties.logs.conflict_index import AccessTable, Horizon, SeenTransaction
from paraply.vocabulary.log import LoggedKind

KEYS, DOMAINS = "abc", (0, 1, 2)
TOUCHES = st.lists(
    st.tuples(st.sampled_from(DOMAINS), st.lists(st.sampled_from(KEYS), unique=True)), max_size=12
)


def remembered(touched, horizon):
    """Return the last transactions with keys that fit the horizon."""
    kept = [one for one in touched[-horizon.transactions :] if one[1]]
    while sum(len(keys) for _, keys in kept) > horizon.keys:
        del kept[0]
    return kept


def last_outside(touched, key, domain):
    """Return the ordinal of the newest toucher in another domain."""
    return next(
        (seen.ref.ordinal for seen, keys in reversed(touched) if key in keys
         and seen.domain != domain),
        None,
    )  # fmt: skip


@given(TOUCHES, st.integers(1, 8), st.integers(1, 6), st.booleans())
def test_newest_outside_is_the_last_remembered_toucher_of_another_domain(
    touches, keys_max, transactions_max, is_stored
):
    horizon = Horizon(keys=keys_max, transactions=transactions_max)
    table, touched = AccessTable(horizon), []
    for ordinal, (domain, keys) in enumerate(touches, start=1):
        ref = SimpleNamespace(ordinal=ordinal)
        seen = SeenTransaction(ref=ref, kind=LoggedKind.ROWS, domain=domain)
        touched.append((seen, keys))
        table.forget_before(ordinal - transactions_max + 1)
        table.add(seen, [(key, True) for key in keys])
        if is_stored:
            table = pickle.loads(pickle.dumps(table))
        kept = remembered(touched, horizon)
        assert len(table) == sum(len(found) for _, found in kept)
        for key in KEYS:
            for domain_asked in DOMAINS:
                found = table.newest_outside(key, domain_asked)
                expected = last_outside(kept, key, domain_asked)
                assert (found.ref.ordinal if found else None) == expected
