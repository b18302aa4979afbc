"""Systems and their certificates as Coq files."""
