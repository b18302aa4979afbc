"""Explore a subject: campaigns of schedules, every state once, and its mutants."""
