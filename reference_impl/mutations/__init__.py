"""Systems that are wrong on purpose; importing ``reference_impl.mutations.all`` registers them."""
