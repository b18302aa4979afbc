"""``paraply verify``: judges an applier by the logs of source and target."""
