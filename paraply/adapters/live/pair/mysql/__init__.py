"""A MySQL source and its replicas."""
