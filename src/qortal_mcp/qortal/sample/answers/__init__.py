"""What the sample chain answers, one file for each family of endpoints."""
