"""The programs that ours is compared with: bare processes that only handle the wire, and servers built on other libraries."""
