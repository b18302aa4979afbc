"""Turn recorded logs, child processes and live servers into histories."""
