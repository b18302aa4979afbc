"""Binary and relay logs: decoder, table definitions and keys."""
