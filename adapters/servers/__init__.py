"""Real MariaDB and MySQL servers in temporary directories on the loopback interface."""
