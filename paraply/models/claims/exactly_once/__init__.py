"""Claims about a source and a replica that finds its place by GTIDs."""
