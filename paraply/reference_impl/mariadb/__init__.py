"""MariaDB's parallel replication: modes, batches, speculation, ordered group commit, domains.

Source: the manual pages of the modes, ``sql/rpl_parallel.cc``, and "More on global transaction ID
in MariaDB". :mod:`paraply.reference_impl.mariadb_gtid` has positions on disk and fail-over.
"""
