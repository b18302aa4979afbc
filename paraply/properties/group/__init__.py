"""Properties of groups: views, reads, commit order, clients."""
