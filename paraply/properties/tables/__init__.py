"""What must be true of transactions given as a table, one row each, for tables of any size."""
