"""Appliers for trials of the gate: programs of their own, which import no paraply."""
