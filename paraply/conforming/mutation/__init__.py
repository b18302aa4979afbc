"""Tests of the suite itself: appliers with a generated fault, and which of them it catches."""
