"""Accounts: what they hold, who they are, what they mint."""
