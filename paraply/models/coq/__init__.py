"""Systems and their certificates as Coq: definitions, a proof per obligation, theorems."""
