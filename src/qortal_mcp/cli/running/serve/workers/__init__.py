"""Several processes at one address: who starts and replaces them, what they are told, and what they tell."""
