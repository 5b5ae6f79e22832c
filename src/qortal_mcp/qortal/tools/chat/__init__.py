"""Chat of the last 24 hours, which is as long as nodes keep it."""
