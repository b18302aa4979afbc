"""Abstraction functions from recorded runs to specifications."""
