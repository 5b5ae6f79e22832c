"""What the Model Context Protocol says. Pure: no await, no clock, no environment."""
