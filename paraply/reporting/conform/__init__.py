"""Reports of the conformance suite."""
