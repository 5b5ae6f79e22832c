"""Transactions: one, many, payments, and what they cost."""
