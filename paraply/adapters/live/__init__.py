"""Observe real servers under load and faults as histories."""
