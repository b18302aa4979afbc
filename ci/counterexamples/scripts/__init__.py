"""The scripts; importing a module registers its scripts."""
