"""Judging in a process of its own, with bounds on time and memory: schemas and lists of a hostile server ask for both."""
