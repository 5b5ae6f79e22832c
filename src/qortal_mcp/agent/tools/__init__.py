"""What the model is offered: the tools of one server or several, and what they return."""
