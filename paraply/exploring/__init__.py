"""Explore a subject: random schedules, all states, and mutants."""
