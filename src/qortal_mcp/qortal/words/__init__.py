"""The vocabulary of the chain: addresses, amounts, times, coins, services. Each is described and bounded once."""
