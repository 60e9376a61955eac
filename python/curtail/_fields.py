"""Converts answers to values of Arrow types, in which a struct has exactly the fields of its type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ._errors import RecordError

if TYPE_CHECKING:
    import pyarrow


def fitted(answer: Any, record: Any, kind: pyarrow.DataType, index: int) -> Any:
    """An answer as a value of an Arrow type. Text becomes a list with one part where the type has a list of parts.

    Args:
        answer: the answer of the program.
        record: the value before the cut, whose type names for text parts are used.
        kind: the Arrow type.
        index: the number of the record.

    Raises:
        RecordError: the type has no field for a member of the answer; the error names it.
    """
    return _Fitting(record, index).value(answer, kind, "", None)


def array_of(values: list[Any], kind: pyarrow.DataType, numbers: Sequence[int]) -> pyarrow.Array:
    """An array of values, which have these numbers.

    Raises:
        RecordError: the type cannot represent one of the values.
    """
    import pyarrow

    try:
        return pyarrow.array(values, kind)
    except (pyarrow.ArrowException, OverflowError):
        for index, value in zip(numbers, values):
            try:
                pyarrow.array([value], kind)
            except (pyarrow.ArrowException, OverflowError) as error:
                raise RecordError(f"the answer does not fit the column: {error}", index) from error
        raise


class _Fitting:
    def __init__(self, record: Any, index: int) -> None:
        self._record, self._index = record, index

    def value(self, value: Any, kind: pyarrow.DataType, field: str, role: Any) -> Any:
        """The value for the field of this name, in a message of this role."""
        import pyarrow

        types = pyarrow.types
        if value is None:
            return None
        if types.is_struct(kind):
            if not isinstance(value, dict):
                raise self._refused(field, kind, value)
            return self._struct(value, kind, field, role)
        if _is_list(kind):
            if isinstance(value, str):
                value = [self._part(value, kind, field, role)]
            if not isinstance(value, list):
                raise self._refused(field, kind, value)
            return [self.value(item, kind.value_type, field, role) for item in value]
        if isinstance(value, (dict, list)) and not types.is_map(kind):
            raise self._refused(field, kind, value)
        return value

    def _struct(self, value: dict[str, Any], kind: pyarrow.DataType, field: str, role: Any) -> dict[str, Any]:
        role = value.get("role", role)
        members = {}
        for key, member in value.items():
            at = kind.get_field_index(key)
            name = f"{field}.{key}" if field else key
            if at >= 0:
                members[key] = self.value(member, kind.field(at).type, name, role)
            elif member is not None:
                reason = f"the column has no field {name!r}, which the answer has; add it to the type, or use to_json()"
                raise RecordError(reason, self._index)
        return members

    def _part(self, text: str, kind: pyarrow.DataType, field: str, role: Any) -> Any:
        """Text as an item of a list."""
        import pyarrow

        item = kind.value_type
        if not pyarrow.types.is_struct(item):
            return text
        part = {"text": text}
        if item.get_field_index("type") >= 0:
            # In OpenAI's Responses API, the type of a part depends on who wrote it.
            by_author = not {"input_text", "output_text"}.isdisjoint(_types(self._record))
            part["type"] = "text" if not by_author else "output_text" if role == "assistant" else "input_text"
        return part

    def _refused(self, field: str, kind: pyarrow.DataType, value: Any) -> RecordError:
        what = "a text" if isinstance(value, str) else "a list" if isinstance(value, list) else f"{value!r:.40}"
        what = "an object" if isinstance(value, dict) else what
        place = f"field {field!r}" if field else "column"
        return RecordError(f"the {place} is {_short(kind)}, and the answer has {what} there; use to_json()", self._index)


def _is_list(kind: pyarrow.DataType) -> bool:
    import pyarrow

    types = pyarrow.types
    views = (types.is_list_view(kind), types.is_large_list_view(kind)) if hasattr(types, "is_list_view") else ()
    return any((types.is_list(kind), types.is_large_list(kind), types.is_fixed_size_list(kind), *views))


def _short(kind: pyarrow.DataType) -> str:
    """A type without its fields: the full type of a message would fill a page."""
    import pyarrow

    return "a struct" if pyarrow.types.is_struct(kind) else "a list" if _is_list(kind) else str(kind)


def _types(value: Any) -> Iterator[Any]:
    """The types of all parts in a record."""
    if isinstance(value, dict):
        yield value.get("type")
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _types(item)
