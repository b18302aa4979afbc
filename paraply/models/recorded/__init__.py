"""Recorded runs read as steps of a specification: one abstraction function per system."""
