"""Registers every property of histories on import: it imports all modules of their rooms."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages

ROOMS = ("apply", "certification", "group", "gtid", "readers", "semi_sync")
"""Others judge logs and tables, or are machines of Hypothesis."""

for _room in ROOMS:
    _package = import_module(f"paraply.properties.{_room}")
    for _module in walk_packages(_package.__path__, f"{_package.__name__}."):
        import_module(_module.name)
