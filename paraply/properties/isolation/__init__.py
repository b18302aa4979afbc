"""Isolation as readers see it: which anomalies a history shows, and which levels it refutes."""
