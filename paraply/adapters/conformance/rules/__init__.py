"""Appliers as scheduling rules, each a class that runs in a child process."""
