"""Read Jepsen and Elle histories, EDN or JSON."""
