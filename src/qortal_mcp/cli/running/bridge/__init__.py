"""A bridge at work, and the look at what it would repair."""
