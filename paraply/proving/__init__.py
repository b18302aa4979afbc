"""Proof checks for reviewers."""
