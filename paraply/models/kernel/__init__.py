"""A small proof checker that trusts no solver: instances of a certificate, refuted in Python."""
