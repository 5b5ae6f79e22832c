"""Visits to a server: what is asked, and every byte that comes back. Nothing is judged here."""
