"""The audit report: outline, advice and JSON."""
