"""JSON Schemas that strangers wrote: what they cost, whether they are valid, what they ask for."""
