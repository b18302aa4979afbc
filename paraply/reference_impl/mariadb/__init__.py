"""MariaDB's parallel replication.

Source: the modes' manual pages, ``sql/rpl_parallel.cc``, "More on global transaction ID in
MariaDB". :mod:`paraply.reference_impl.mariadb_gtid` has positions and fail-over.
"""
