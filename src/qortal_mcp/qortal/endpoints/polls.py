"""Polls and ratings."""

from typing import Any

from .record import Endpoint

FAMILY: tuple[Endpoint[Any], ...] = ()
