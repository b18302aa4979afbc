"""Keys and aspects that foreign keys add to the change of a row."""

from __future__ import annotations

from collections.abc import Iterable

from paraply.adapters.binlog.keys.foreign import MOVED, NEW, ChildTie, ParentTie, of_kind
from paraply.adapters.binlog.keys.parts import BuiltKey, KeyPlan, NoKey
from paraply.adapters.binlog.keys.transaction_keys import TransactionKeys
from paraply.vocabulary.log import ABSENT, RELEASED, Operation, RowChange, RowImage, aspect


def take_child_tie(
    tie: ChildTie,
    row: RowChange,
    before: RowImage | None,
    after: RowImage | None,
    keys: TransactionKeys,
    *,
    has_primary: bool,
) -> None:
    """Add what a changed row means for its parents; ``after`` is complete."""
    is_found_delete = has_primary and row.operation is Operation.DELETE and tie.keeps_deletes
    if tie.loses_value and before is not None and _may_be_null(tie, before) and not is_found_delete:
        keys.aspects.add(tie.null_aspect)
    if tie.existence is None:
        if _refers(tie, before) or _refers(tie, after):
            keys.reached.add(tie.parent)
        return
    old = tie.existence.build(before) if before is not None else NoKey.NULL
    new = tie.existence.build(after) if after is not None else NoKey.NULL
    # A delete or update finds its row by the primary key, also after SET NULL.
    if is_found_delete and tie.always_keeps:
        return
    is_update = row.operation is Operation.UPDATE
    is_unchanged = is_update and _same(old, new, tie.existence, row)
    is_checked_again = is_unchanged and not row.unchecked and _changes(tie.index_columns, row)
    if is_unchanged and not (tie.may_be_changed_below or is_checked_again):
        return
    is_found = is_found_delete or (is_update and has_primary and tie.keeps_deletes)
    needs_parent = not is_unchanged or tie.may_be_changed_below
    for built, certain, appears in (
        (old, needs_parent and not is_found, False),
        (new, needs_parent, not is_unchanged or is_checked_again),
    ):
        if isinstance(built, BuiltKey):
            checked = BuiltKey(built.key, certain and built.certain)
            keys.share(checked)
            if appears and not row.unchecked:
                is_sure = not is_unchanged or tie.is_surely_checked_again
                keys.share(_of_kind(NEW, BuiltKey(built.key, checked.certain and is_sure)))
            if built is new and tie.may_follow:
                # A new value of the parent's does not matter to an unchecked child.
                moved = BuiltKey(built.key, checked.certain and not row.unchecked)
                keys.share(_of_kind(MOVED, moved))
        elif built is not NoKey.NULL:
            # No child looks at a parent that appears unless it appears itself.
            is_late = tie.is_unique and not appears
            keys.reached.add(aspect(tie.parent, RELEASED) if is_late else tie.parent)
    if after is not None and not is_unchanged and not row.unchecked and tie.primary is not None:
        primary = tie.primary.build(after)
        if isinstance(primary, BuiltKey):
            keys.locked.add(primary.key)


def take_parent_tie(
    tie: ParentTie,
    row: RowChange,
    before: RowImage | None,
    after: RowImage | None,
    keys: TransactionKeys,
) -> None:
    """Add what a changed row means for its children; ``after`` is complete."""
    old = tie.existence.build(before) if before is not None else NoKey.NULL
    new = tie.existence.build(after) if after is not None else NoKey.NULL
    is_unchanged = row.operation is Operation.UPDATE and _same(old, new, tie.existence, row)
    # Another spelling of an equal value ('a', 'A') cascades all the same.
    if is_unchanged and not _is_respelled(tie.existence, before, after):
        return
    is_followed = row.operation is Operation.UPDATE and tie.is_followed and not row.unchecked
    for built, appears in ((old, False), (new, not is_unchanged)):
        if isinstance(built, BuiltKey):
            # Where parents may share a value, a new one may also allow the delete of another.
            # An unchecked change looks at no child, and only checked ones that appear look at it.
            is_new = (appears or row.unchecked) and tie.is_unique and not is_followed
            # An unchecked parent that goes may come again, and a child between sees no difference.
            seen = BuiltKey(built.key, built.certain and not row.unchecked)
            keys.write(_of_kind(NEW, seen) if is_new else built)
            if is_followed:
                keys.doubted.add(built.key)
                keys.write(_of_kind(MOVED, built))
        elif built is not NoKey.NULL:
            keys.reached |= tie.children
    if row.unchecked:
        return
    if row.operation is not Operation.INSERT:
        cascade = tie.of_delete if row.operation is Operation.DELETE else tie.of_update
        keys.reached |= cascade.reached
        keys.aspects |= {aspect(row.table, RELEASED), *cascade.aspects}


def _is_respelled(plan: KeyPlan, before: RowImage | None, after: RowImage | None) -> bool:
    if before is None or after is None:
        return False
    return any(
        column < len(before)
        and column < len(after)
        and ABSENT not in (before[column], after[column])
        and _differ(before[column], after[column])
        for column in plan.columns
    )


def _of_kind(kind: str, built: BuiltKey) -> BuiltKey:
    return BuiltKey(of_kind(kind, built.key), built.certain)


def _changes(columns: Iterable[int], row: RowChange) -> bool:
    """Return whether an update may change one of the columns."""
    before, after = row.before, row.after
    assert before is not None
    assert after is not None
    return any(
        column < len(after)
        and after[column] is not ABSENT
        and (column >= len(before) or _differ(before[column], after[column]))
        for column in columns
    )


def _differ(old: object, new: object) -> bool:
    """Return whether the server sees another value: it compares bytes, and tells 0.0 from -0.0."""
    return old != new or (isinstance(old, float) and repr(old) != repr(new))


def _may_be_null(tie: ChildTie, image: RowImage) -> bool:
    return any(column >= len(image) or image[column] in (None, ABSENT) for column in tie.columns)


def _refers(tie: ChildTie, image: RowImage | None) -> bool:
    return image is not None and not any(
        column < len(image) and image[column] is None for column in tie.columns
    )


def _same(old: BuiltKey | NoKey, new: BuiltKey | NoKey, plan: KeyPlan, row: RowChange) -> bool:
    if isinstance(old, BuiltKey) and isinstance(new, BuiltKey):
        # Uncertain equality does not count: the values may differ.
        return old.key == new.key and old.certain and new.certain
    if old is NoKey.NULL and new is NoKey.NULL:
        return True
    return row.after is not None and not plan.is_set_by(row.after)
