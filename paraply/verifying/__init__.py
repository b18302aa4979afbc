"""The job of ``paraply verify``: judge what an applier did from the logs of source and target."""
