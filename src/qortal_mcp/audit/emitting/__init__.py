"""Tests for the authors of an audited server: they fail as long as the server answers as it did, with no need of this package."""
