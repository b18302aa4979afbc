"""A group whose members receive one total order."""
