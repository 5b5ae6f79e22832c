"""Polls of the sample chain."""

from .replies import Routes

ROUTES: Routes = {}
