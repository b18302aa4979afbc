"""MariaDB's parallel replication: modes, batches, speculation, ordered group commit, domains.

Source: the mode manual pages, and ``sql/rpl_parallel.cc`` as facts; in-order and out-of-order as in
"More on global transaction ID in MariaDB". Row store, log source, recorder and choices are those of
the other appliers; positions on disk and fail-over are :mod:`paraply.reference_impl.mariadb_gtid`.
"""
