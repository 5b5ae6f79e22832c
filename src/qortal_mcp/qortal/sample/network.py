"""Supply, peers and developer helpers of the sample chain."""

from .replies import Routes

ROUTES: Routes = {}
