"""Types that pydantic reads and writes. The only file that imports pydantic, and only where the author of a function has."""

import functools
import re
from typing import Any, Literal

import msgspec

try:
    import pydantic
    from pydantic.json_schema import GenerateJsonSchema
    from pydantic_core import PydanticSerializationError
except ImportError:
    raise TypeError(
        "pydantic is not installed, and this type is described for it; install it, or write msgspec's Meta instead"
    ) from None

from ..offers.schema import inlined

_encode = msgspec.json.Encoder().encode
_FIELD_NAME = re.compile(r"field_name='([^']*)'")
# The name of that field.
_VALUE = "value"
# What `Field` can say of a model's field and nobody could obey for a parameter.
_WITHOUT_MEANING = ("exclude", "exclude_if", "init", "init_var", "kw_only", "frozen")


class _Schema(GenerateJsonSchema):
    """Without the titles that repeat names: a model pays for each of them."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    # A time in an answer may have no zone, which the formats of JSON Schema do not allow.
    def datetime_schema(self, schema: Any) -> dict[str, Any]:
        return self._time(super().datetime_schema(schema), schema)

    def time_schema(self, schema: Any) -> dict[str, Any]:
        return self._time(super().time_schema(schema), schema)

    def _time(self, made: dict[str, Any], schema: Any) -> dict[str, Any]:
        is_exact = self.mode == "validation" or schema.get("tz_constraint") is not None
        return made if is_exact else {"type": "string"}


class Parameter:
    """One parameter of a function, as pydantic reads it: a model with one field."""

    def __init__(self, name: str, annotation: Any, default: Any) -> None:
        self._model = _model(name, annotation, default)
        info = self._model.model_fields[_VALUE]
        meaningless = [word for word in _WITHOUT_MEANING if getattr(info, word, None) not in (None, False)]
        if meaningless:
            raise TypeError(f"Field({meaningless[0]}=…) means nothing for a parameter; leave it out")
        alias = info.validation_alias or info.alias or _VALUE
        if not isinstance(alias, str):
            raise TypeError("an alias of a parameter is one text; write alias='name'")
        self._alias = alias
        # The name that callers use, if it is another one.
        self.wire_name = None if alias == _VALUE else alias
        self.is_required = info.is_required()
        whole = self._model.model_json_schema(schema_generator=_Schema, by_alias=True)
        self.schema = _portable(whole)["properties"][alias]

    def read(self, value: Any) -> Any:
        # As JSON, not as Python values: a strict date may be written as text only there.
        return getattr(self._model.model_validate_json(_encode({self._alias: value})), _VALUE)

    def default(self) -> Any:
        return getattr(self._model(), _VALUE)


def _model(name: str, annotation: Any, default: Any) -> type[pydantic.BaseModel]:
    try:
        return pydantic.create_model(name, value=(annotation, default))
    except (pydantic.PydanticUserError, TypeError, ValueError) as exc:
        raise TypeError(f"pydantic cannot read it: {_first_line(exc)}") from None


class Answer:
    """What a function returns, as pydantic checks and writes it."""

    def __init__(self, declared: Any) -> None:
        try:
            self._adapter = pydantic.TypeAdapter(declared)
            whole = self._adapter.json_schema(mode="serialization", schema_generator=_Schema, by_alias=True)
        except (pydantic.PydanticUserError, TypeError, ValueError) as exc:
            raise TypeError(f"pydantic cannot write it: {_first_line(exc)}") from None
        self.schema = _portable(whole, joins_types=True)

    def write(self, value: Any) -> bytes:
        """Raises: TypeError for a value that does not fit the declared type. It does not repeat the value, since it is logged."""
        try:
            fitting = self._adapter.validate_python(value)
            return self._adapter.dump_json(fitting, by_alias=True, warnings="error")
        except pydantic.ValidationError as exc:
            first = exc.errors(include_url=False, include_input=False, include_context=False)[0]
            where = ".".join(map(str, first["loc"])) or "it"
            raise TypeError(f"the answer does not fit its declared type: {where}: {first['msg']}") from None
        except PydanticSerializationError as exc:
            fields = ", ".join(_FIELD_NAME.findall(str(exc))) or "it"
            raise TypeError(
                f"the answer does not fit its declared type: {fields} cannot be written"
            ) from None


def read_class(kind: Any, value: Any) -> Any:
    return _adapter(kind).validate_json(_encode(value))


def write_value(value: Any) -> Any:
    return _adapter(_class_of(value)).dump_python(value, mode="json", by_alias=True, warnings="error")


def _class_of(value: Any) -> Any:
    return type(value)


def schema_of_class(kind: Any, mode: str) -> dict[str, Any]:
    which: Literal["validation", "serialization"] = "validation" if mode == "validation" else "serialization"
    return _portable(_adapter(kind).json_schema(mode=which, schema_generator=_Schema, by_alias=True))


@functools.cache
def _adapter(kind: Any) -> pydantic.TypeAdapter[Any]:
    return pydantic.TypeAdapter(kind)


def _portable(schema: dict[str, Any], *, joins_types: bool = False) -> dict[str, Any]:
    parts = {name: _untitled(name, part) for name, part in schema.pop("$defs", {}).items()}
    if "$ref" not in schema:
        schema.pop("title", None)  # the name of the class
    return inlined(schema, parts, joins_types=joins_types)


def _untitled(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Without a title that only repeats the name of the class."""
    title = "".join(letter if letter.isalnum() else "_" for letter in schema.get("title", ""))
    return {key: value for key, value in schema.items() if key != "title" or not name.endswith(title)}


def _first_line(exc: Exception) -> str:
    return str(exc).splitlines()[0].rstrip(".")
