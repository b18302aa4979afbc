"""A compiled scanner for the common shapes of transactions; the rest goes to the readable one."""
