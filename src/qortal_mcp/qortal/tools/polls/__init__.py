"""Polls: what is asked, who voted how, and app ratings, which are polls too."""
