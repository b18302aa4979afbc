"""Row images that do not show all columns, in logs as they would have been written with them."""
