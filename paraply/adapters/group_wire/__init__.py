"""What the members of a MySQL group say to each other, read from the loopback interface.

No log of a member holds the snapshot and the write set of a transaction: the server drops that
event before it writes its relay log. The members' own traffic holds them, in the total order
of the group: transactions, executed sets for garbage collection, views, and the certification
info that a donor gives to a joiner. ``capture`` records frames, ``tcp`` puts streams together,
``xcom`` reads the consensus protocol, ``messages`` what was agreed on, ``observe`` makes it a
``paraply.vocabulary.group_trace.GroupTrace``.

Only unencrypted traffic can be read: group_replication_ssl_mode=DISABLED.
"""

from __future__ import annotations
