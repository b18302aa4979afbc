"""The compiled engine of ``paraply verify``: it decides healthy logs."""
