"""A small chain, read once from a real Core, that answers as that Core did.

Added to it are trades from before it began, made by a rule: `answers/trades/past.py`.
"""

from .source import SAMPLE_NOTICE, SampleSource

__all__ = ["SAMPLE_NOTICE", "SampleSource"]
