"""The functions that ``paraply`` exports."""
