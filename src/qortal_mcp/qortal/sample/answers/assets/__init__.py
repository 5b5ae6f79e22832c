"""Assets of the sample chain, and the orders for them."""
