"""Which Python types a function may declare, and how values of them cross the wire.

msgspec knows most of them. Whatever pydantic has a part in is read and written by pydantic, which is loaded only if the author of a
function has done so: `recognising` tells them apart, `pydantic_types` is the only file that imports it.
"""
