"""Reports of ``paraply verify``."""
