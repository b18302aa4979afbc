"""Compiled judges for the common shapes of transactions, equal to the readable ones."""
