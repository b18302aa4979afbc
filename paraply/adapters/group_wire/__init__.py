"""Read the traffic of a MySQL group from the loopback interface.

The server drops a transaction's snapshot and write set before it writes its relay log. The members'
traffic has them, with executed sets, views and donated certification info, in total order. The
result is a ``paraply.vocabulary.group_trace.GroupTrace``.

It requires unencrypted traffic: group_replication_ssl_mode=DISABLED.
"""

from __future__ import annotations
