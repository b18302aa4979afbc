"""What foreign keys add to a transaction's keys, on the child's side and on the parent's.

Three things are tied, each as loosely as is safe:

- *Existence.* A parent row that comes, goes or changes its referenced columns writes the key
  ``REFERENCES(columns)`` with their values. A child row that comes, goes or changes its foreign
  key reads it, and so does any change of a child row that a CASCADE or SET NULL might hit. Reading
  is shared, so children of one parent do not conflict (the over-serialising of bug 110071).
- *The locked parent row.* Inserting a child locks the parent's primary key record. A change of
  other columns of that row has to wait, and gives the same result in either order.
- *Cascades.* What the engine changes below the log is not in it. Rows of a direct child are met
  by the existence key, since each carries the parent's value. What is not met is named, as
  reached: tables further down, and aspects of tables: new unique values of a child whose rows a
  cascade deletes, rows that SET NULL took the parent's value from, and deletes from a third table
  that the cascade stops referring to.

A rows event with NO_FOREIGN_KEY_CHECKS neither checks nor cascades, so its ties are uncertain: they
meet only changes of the other side that look at it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from paraply.adapters.binlog.keys.parts import KeyPlan
from paraply.adapters.binlog.keys.values import folder_of
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.vocabulary.log import RELEASED, TAKEN, aspect
from paraply.vocabulary.schema import ForeignKey, TableSchema

LOSES_VALUE = frozenset({"SET NULL", "SET DEFAULT"})
CHANGES_CHILD = LOSES_VALUE | {"CASCADE"}
PRIMARY = "PRIMARY"


def existence_index(columns: tuple[str, ...]) -> str:
    """Return the name of the key that stands for the existence of referenced values."""
    return f"REFERENCES({','.join(columns).lower()})"


@dataclass(frozen=True, slots=True)
class ChildTie:
    """One foreign key from the child's side; the plans read the child's images.

    ``existence`` is None where the parent's columns are not known: then ``parent`` is reached.
    ``primary`` is None where the key does not refer to the parent's primary key.
    """

    columns: tuple[int, ...]
    parent: str
    existence: KeyPlan | None
    primary: KeyPlan | None
    may_be_changed_below: bool
    loses_value: bool = False
    """Whether SET NULL or SET DEFAULT may take the parent's value from a row."""
    null_aspect: str = ""
    keeps_deletes: bool = False
    """Whether a parent that goes leaves its child rows, so that a child's delete finds its row."""
    always_keeps: bool = False
    """Whether the same is true of a parent whose key changes."""


def null_aspect(child: str, key: ForeignKey) -> str:
    """Return the aspect of changing a child row that refers to no parent by ``key``."""
    return aspect(child, f"rows without a parent by {key.name}")


@dataclass(frozen=True, slots=True)
class ParentTie:
    """One set of referenced columns from the parent's side.

    ``children`` are the tables that refer to it. ``reached_by_delete`` and ``reached_by_update``
    are the tables whose rows a cascade may touch out of sight.
    """

    existence: KeyPlan
    children: frozenset[str]
    reached_by_delete: frozenset[str]
    reached_by_update: frozenset[str]


def parent_columns_of(key: ForeignKey, parent: TableSchema) -> tuple[int, ...] | None:
    """Return the positions of the referenced columns, None where the schema does not tell."""
    if not key.parent_columns:
        primary = [k for k in parent.unique_keys if k.name == PRIMARY]
        return tuple(part.column for part in primary[0].parts) if primary else None
    positions = [parent.column_index(name) for name in key.parent_columns]
    found = tuple(position for position in positions if position is not None)
    return found if len(found) == len(positions) == len(key.columns) else None


def child_ties(registry: SchemaRegistry, child: TableSchema) -> tuple[ChildTie, ...]:
    """Return the ties of a table to its parents."""
    ties = []
    for key in child.foreign_keys:
        parent = registry.table(key.parent)
        positions = parent_columns_of(key, parent) if parent is not None else None
        actions = {key.on_delete, key.on_update}
        may_be_changed = bool(actions & CHANGES_CHILD)
        loses_value = bool(actions & LOSES_VALUE)
        null_name = null_aspect(child.name, key)
        if parent is None or positions is None or len(positions) != len(key.columns):
            name = parent.name if parent is not None else key.parent
            ties.append(
                ChildTie(key.columns, name, None, None, may_be_changed, loses_value, null_name)
            )
            continue
        # The parent's columns decide what is equal, the child's only how bytes become text.
        folders = tuple(folder_of(parent.columns[position]) for position in positions)
        names = tuple(parent.columns[position].name for position in positions)
        existence = KeyPlan(
            parent.name, existence_index(names), key.columns, folders, certain=not key.assumed
        )
        ties.append(
            ChildTie(
                key.columns,
                parent.name,
                existence,
                _primary_plan(parent, positions, key, folders),
                may_be_changed,
                loses_value,
                null_name,
                keeps_deletes=key.on_delete in LOSES_VALUE,
                always_keeps=key.on_delete in LOSES_VALUE and key.on_update in CHANGES_CHILD,
            )
        )
    return tuple(ties)


def _primary_plan(
    parent: TableSchema,
    positions: tuple[int, ...],
    key: ForeignKey,
    folders: tuple[Callable[[object], tuple[object, bool]], ...],
) -> KeyPlan | None:
    """Return a plan that gives the parent's PRIMARY key from the child's columns."""
    for unique in parent.unique_keys:
        parts = [part.column for part in unique.parts]
        if unique.name != PRIMARY or sorted(parts) != sorted(positions):
            continue
        if any(part.prefix_length for part in unique.parts):
            return None
        order = [positions.index(part) for part in parts]
        return KeyPlan(
            parent.name,
            PRIMARY,
            tuple(key.columns[at] for at in order),
            tuple(folders[at] for at in order),
            certain=not key.assumed,
        )
    return None


def parent_ties(registry: SchemaRegistry, parent: TableSchema) -> tuple[ParentTie, ...]:
    """Return the ties of a table to those that refer to it, one per set of referenced columns."""
    referring: dict[tuple[int, ...], list[tuple[str, ForeignKey]]] = {}
    for child, key in registry.referencing(parent.name):
        positions = parent_columns_of(key, parent)
        if positions is not None:
            referring.setdefault(positions, []).append((child, key))
    ties = []
    for positions, keys in referring.items():
        names = tuple(parent.columns[position].name for position in positions)
        is_unique = any(
            {part.column for part in unique.parts} == set(positions)
            for unique in parent.unique_keys
        )
        existence = KeyPlan(
            parent.name,
            existence_index(names),
            positions,
            tuple(folder_of(parent.columns[position]) for position in positions),
            # Two parents that share a referenced value need not exclude each other.
            certain=is_unique and not all(key.assumed for _, key in keys),
        )
        ties.append(
            ParentTie(
                existence,
                frozenset(child for child, _ in keys),
                reached_by_cascade(registry, keys, deleted=True),
                reached_by_cascade(registry, keys, deleted=False),
            )
        )
    return tuple(ties)


def reached_by_cascade(
    registry: SchemaRegistry, keys: list[tuple[str, ForeignKey]], *, deleted: bool
) -> frozenset[str]:
    """Return the tables and aspects that a delete (or a key update) may touch out of sight.

    Below the direct children every table that refers to a changed one counts, transitively.
    """
    reached: set[str] = set()
    visited: set[tuple[str, ForeignKey, bool, bool]] = set()
    pending = [(child, key, deleted, True) for child, key in keys]
    while pending:
        step = pending.pop()
        if step in visited:
            continue
        visited.add(step)
        child, key, parent_deleted, is_direct = step
        action = key.on_delete if parent_deleted else key.on_update
        deletes = parent_deleted and action == "CASCADE"
        # Rows of a direct child carry the parent's value and are met by it, unless the change
        # took it from them: then later changes of the row carry NULL, and share no key with this.
        if not is_direct:
            reached.add(child)
        elif action in LOSES_VALUE:
            whole = _has_generated_key(registry, child)
            reached.add(child if whole else null_aspect(child, key))
        elif action == "CASCADE" and not deletes and _has_generated_key(registry, child):
            reached.add(child)
        elif deletes and _frees_other_values(registry, child, key):
            reached.add(aspect(child, TAKEN))
        if action in CHANGES_CHILD:
            reached.update(_left_parents(registry, child, key, deletes=deletes))
            below = registry.referencing(child)
            if not deletes:
                below = tuple(_that_follow(registry, child, key, below))
            pending += ((name, other, deletes, False) for name, other in below)
    return frozenset(reached)


def _has_generated_key(registry: SchemaRegistry, child: str) -> bool:
    """Return whether a changed foreign key may change a unique value that does not name it."""
    schema = registry.table(child)
    return (
        schema is None
        or not schema.keys_complete
        or any(
            schema.columns[part.column].generated
            for unique in schema.unique_keys
            for part in unique.parts
        )
    )


def _left_parents(
    registry: SchemaRegistry, child: str, key: ForeignKey, *, deletes: bool
) -> Iterator[str]:
    """Yield what is met of further parents that changed or deleted child rows refer to."""
    schema = registry.table(child)
    if schema is None:
        return
    for other in schema.foreign_keys:
        if other == key or not (deletes or set(other.columns) & set(key.columns)):
            continue
        parent = registry.table(other.parent)
        name = parent.name if parent is not None else other.parent
        # An updated value may also begin to refer to a row.
        yield aspect(name, RELEASED) if deletes else name


def _that_follow(
    registry: SchemaRegistry,
    child: str,
    key: ForeignKey,
    below: tuple[tuple[str, ForeignKey], ...],
) -> Iterator[tuple[str, ForeignKey]]:
    """Yield the foreign keys that refer to columns which a change of ``key`` changes."""
    schema = registry.table(child)
    for name, other in below:
        positions = parent_columns_of(other, schema) if schema is not None else None
        if positions is None or set(positions) & set(key.columns):
            yield name, other


def _frees_other_values(registry: SchemaRegistry, child: str, key: ForeignKey) -> bool:
    """Return whether deleting child rows frees unique values that do not tell the parent."""
    schema = registry.table(child)
    if schema is None or not schema.keys_complete:
        return True
    for unique in schema.unique_keys:
        whole = {part.column for part in unique.parts if not part.prefix_length}
        if set(key.columns) <= whole:
            continue
        if len(unique.parts) == 1 and schema.columns[unique.parts[0].column].auto_increment:
            registry.assume(
                f"AUTO_INCREMENT values of {child} that a cascade sets free are not used again"
            )
            continue
        return True
    return False
