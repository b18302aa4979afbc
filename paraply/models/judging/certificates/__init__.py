"""Certificates of proofs: how they are found and where they are kept."""
