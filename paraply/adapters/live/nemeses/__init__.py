"""Faults of members that a plan combines: partitions, pauses, crashes, clocks and disks."""
