"""What answers about a time span have in common: which blocks it is, and reading all transactions in them."""
