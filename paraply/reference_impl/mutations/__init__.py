"""Systems that are wrong on purpose; importing ``mutations.all`` registers them."""
