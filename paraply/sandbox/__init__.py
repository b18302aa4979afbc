"""A locked child process for commands that read files of unknown origin (decision 0007)."""
