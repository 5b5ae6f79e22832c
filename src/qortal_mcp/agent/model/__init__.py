"""The language model: what is said to it, what it says, and how its endpoint is found and reached."""
