"""Scheduling rules as applier processes."""
