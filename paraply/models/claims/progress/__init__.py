"""Claims of progress under weak fairness."""
