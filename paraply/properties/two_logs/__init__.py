"""What an applier did, judged from the log of the source and the log of the target alone."""
