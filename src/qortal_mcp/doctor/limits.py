"""How long a look at an installation may take. Looks run side by side, so none waits for another."""

from ..qortal.limits import NodeLimits

# A look that has not ended by then is given up, and the others are reported.
LOOK_SECONDS = 15.0
# What occupies a port says who it is at once, or not at all.
OCCUPANT_SECONDS = 3.0
# The head and the first lines of whatever answers there; our own manifest has some 20 kB.
OCCUPANT_BYTES = 256 * 1024
# The shared store has to be much faster to be of use.
STORE_SECONDS = 3.0
# What a client would start has to answer by then; our own server takes a few tenths of a second.
CLIENT_ENTRY_SECONDS = 10.0
# More entries of this program on one machine are a mistake.
CLIENT_ENTRIES = 32


def of_node(max_tip_age_seconds: float) -> NodeLimits:
    """A person waits for this: a node gets less time than a tool would give it."""
    return NodeLimits(
        connect_seconds=3.0, reply_seconds=6.0, tip_seconds=6.0, max_tip_age_seconds=max_tip_age_seconds
    )
