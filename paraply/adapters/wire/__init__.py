"""A gate between an unmodified applier and a MySQL or MariaDB server."""
