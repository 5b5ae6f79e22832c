"""What a person types: options, arguments, files, and what the shell completes."""
