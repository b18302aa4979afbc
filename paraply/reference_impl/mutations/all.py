"""Import this module to register every mutant: it imports all others of this package."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages

from paraply.reference_impl import mutations

for _module in walk_packages(mutations.__path__, f"{mutations.__name__}."):
    import_module(_module.name)
