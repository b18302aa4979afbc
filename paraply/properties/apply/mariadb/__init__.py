"""Properties of MariaDB's appliers."""
