"""Who and what is on the sample chain."""

ALICE = "QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9v"
ALICE_KEY = "2tiMr5LTpaWCgbRvkPK8TFd7k63DyHJMMFFsz9uBf1ZP"
BOB = "QixPbJUwsaHsVEofJdozU9zgVqkK6aYhrK"
CHLOE = "QaUpHNhT3Ygx6avRiKobuLdusppR5biXjL"
# Edited the data of her only name, which made Core forget that it is the primary one.
JUDY = "QMrqHEmPJQVUH789zNeuFk7d5UBeskEbSc"
# A valid address that nobody used.
NOBODY = "QXnFSB5NoCx7ugyANq3ed6kjTU2EoboWaR"
# Seen, and without anything.
EMPTY = "QVXv8tb5iDDr6mRhAspJDTpaAjqFx9qQny"
CONTRACT = "AR2L4PxpCNReZ3zCVhqQh43rV8iX56q6rE"
WRONG_CHECKSUM = "QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9w"
NODE_ID = "NTz7TyAJ4tLCBumtwmZXUNYjcH7XyF9BBX"
GOLD = 3
HEIGHT = 596
