"""Certification of WL#8440: conflicts, GTIDs and logical timestamps."""
