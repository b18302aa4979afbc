"""Binary and relay logs: a decoder of our own, the schema and the keys of what they changed."""
