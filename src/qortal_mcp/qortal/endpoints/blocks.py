"""Blocks."""

from typing import Any

from ..replies.blocks import LastBlock
from .record import LIVE, Endpoint, json_of

LAST_BLOCK = Endpoint("/blocks/last", json_of(LastBlock), LIVE, returns="The newest block.", noun="Block")

FAMILY: tuple[Endpoint[Any], ...] = (LAST_BLOCK,)
