"""Faulty systems; importing ``mutations.all`` registers them."""
