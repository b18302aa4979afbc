"""The systems of all theorems by name, built once for all tests of a process."""

from paraply.models.judging.certificates.__main__ import systems

SYSTEMS = {system.name: system for system in systems()}
