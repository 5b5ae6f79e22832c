"""Lists of tools: the list, its entries, their names and schemas."""

from typing import Any

from ..repair import Repair
from .entry import ENTRY, params_member
from .inputs import (
    boolean_property,
    input_schema_missing,
    input_schema_root_not_object,
    input_schema_type_missing,
)
from .keywords import schema_malformed
from .names import NAMES, name_empty
from .outputs import output_schema_removed, output_schema_root_not_object
from .page import PAGE
from .portable import array_without_items, dialect, top_level_union, type_union
from .references import has_refs, ref_unresolvable

# In the order in which they are applied: each relies on what those before it have put right.
TOOLS: tuple[Repair[Any], ...] = (
    *PAGE,
    # Before anything is put right in a tool that is left out: the client finds it as the server sent it.
    name_empty,
    *ENTRY,
    input_schema_missing,
    params_member,
    output_schema_removed,
    dialect,
    ref_unresolvable,
    input_schema_root_not_object,
    schema_malformed,
    input_schema_type_missing,
    output_schema_root_not_object,
    boolean_property,
    has_refs,
    top_level_union,
    type_union,
    array_without_items,
    *NAMES,
)
