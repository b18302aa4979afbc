"""A source and its replicas, MariaDB or MySQL."""
