"""`/console/audit`: the audit of another server, by its address, in a process of its own."""
