"""Fuzzing; run by hand or by ``make fuzz``, not collected by pytest."""
