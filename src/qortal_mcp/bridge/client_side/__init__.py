"""The clients in front: their open calls, and what they are told."""
