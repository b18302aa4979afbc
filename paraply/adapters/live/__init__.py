"""Run real servers under load and faults, and translate observations into histories."""
