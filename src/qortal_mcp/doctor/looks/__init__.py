"""Gather the facts, one file for each subject. A look changes nothing and asks nobody but those it is about."""
