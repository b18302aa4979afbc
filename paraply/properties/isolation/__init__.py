"""Isolation as readers see it: anomalies and refuted levels."""
