"""Third-party appliers turned into histories: recorded logs, child processes, live servers."""
