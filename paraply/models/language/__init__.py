"""The specification language and its readings."""
