"""Follows running servers and judges the replicas continuously."""
