"""A MariaDB source and its replicas."""
