"""Read a MySQL group's traffic as a ``paraply.vocabulary.group_trace.GroupTrace``.

Relay logs lack snapshots and write sets, which the server drops. The traffic has them in total
order, with executed sets, views and donated certification info. It must be unencrypted:
group_replication_ssl_mode=DISABLED.
"""

from __future__ import annotations
