"""Checks of the proofs that a reviewer runs."""
