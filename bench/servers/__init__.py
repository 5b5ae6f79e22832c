"""The programs that stand beside ours: bare processes that do nothing but the wire, and servers made with others' layers."""
