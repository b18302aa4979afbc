"""Run the conformance suite against appliers."""
