"""MariaDB GTIDs as designed in January 2013: positions, topologies, and MySQL 5.6 beside them.

``positions_subject`` is one replica that stores its position; ``topology_subject`` is servers that
replicate, fail over and write; ``gap_free_subject`` is the executed set of MySQL 5.6.
"""
