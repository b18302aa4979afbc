"""Run the suite against an unmodified applier behind the gate."""
