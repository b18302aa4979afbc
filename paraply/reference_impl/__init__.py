"""The executable specification of the four design documents: readable, quotable, slow."""
