"""The tool people start: command line, reports, pictures; no rules of its own."""
