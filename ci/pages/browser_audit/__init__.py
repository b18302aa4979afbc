"""The audit as one page: a browser runs it, and no data leaves the machine."""
