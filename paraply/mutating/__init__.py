"""Small generated changes of Python programs, and how to load them."""
