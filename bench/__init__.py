"""Measures this server next to others, in one run. Never part of the tests: a timed test fails on a busy machine."""
