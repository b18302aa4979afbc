"""A small certificate checker without a solver."""
