"""A small chain, read once from a real Core, that answers as that Core did."""

from .source import SAMPLE_NOTICE, SampleSource

__all__ = ["SAMPLE_NOTICE", "SampleSource"]
