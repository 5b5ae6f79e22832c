"""Stands between clients and a server that answers wrongly: any transport in front, any behind, repaired on the way."""
