"""What a model is sent: its rules, the lines around what tools return, and how everything fits into its window."""
