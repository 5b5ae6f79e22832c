"""Counts and durations of this process, and their Prometheus text. What there is, is listed in `names.py`."""

from .counting import Metrics
from .names import METRICS, Metric

__all__ = ["METRICS", "Metric", "Metrics"]
