"""Fuzzing: every reader (``python -m tests.fuzz``), and the binary log decoder by coverage."""
