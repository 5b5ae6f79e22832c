"""Tools by search: four tools in place of all definitions."""
