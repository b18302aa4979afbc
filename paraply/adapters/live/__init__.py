"""Real servers under load and under faults, observed from outside and told as histories.

A target (``targets``) provisions servers, drives the workload, injects a fault, and yields one
``LiveRound`` after the other: what was observed, as a history that every property can judge.
"""
