"""Cuts batches of columns: mappings, and Arrow tables and record batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _files
from ._fields import array_of, fitted
from ._records import DROPPED

if TYPE_CHECKING:
    import pyarrow

#: Cuts records, given the number of the first one. A record that is skipped becomes `DROPPED`.
Cut = Callable[[Sequence[Any], int], list[Any]]


def cut(answers: Cut, run: _files.Run | None, batch: Any, column: str) -> Any:
    """Cuts `column` of a batch of any kind. `run` runs the program on a file, if that may be tried."""
    if isinstance(batch, Mapping):
        return _cut_mapping(answers, batch, column)
    kind = f"{type(batch).__module__.partition('.')[0]}.{type(batch).__name__}"
    if kind == "pyarrow.Table":
        return _cut_table(answers, run, batch, column)
    if kind == "pyarrow.RecordBatch":
        return _cut_record_batch(answers, run, batch, column)
    raise TypeError(f"a batch is a mapping of columns, or a Table or RecordBatch of pyarrow, not {kind}; see to_arrow()")


def _cut_mapping(answers: Cut, batch: Mapping[str, Any], column: str) -> dict[str, Any]:
    if column not in batch:
        raise KeyError(f"no column {column!r}; the batch has {', '.join(map(repr, batch))}")
    values = batch[column]
    records = [_plain(value) for value in values] if hasattr(values, "dtype") else list(values)
    done = answers(records, 0)
    kept = [index for index, answer in enumerate(done) if answer is not DROPPED]
    columns = {name: _take(batch[name], kept, len(done)) for name in batch if name != column}
    return {name: _like(values, [done[index] for index in kept]) if name == column else columns[name] for name in batch}


def _plain(value: Any) -> Any:
    """An array as a list, because Ray passes lists in columns as numpy arrays."""
    return [_plain(item) for item in value] if hasattr(value, "dtype") and hasattr(value, "__len__") else value


def _take(values: Any, kept: Sequence[int], count: int) -> Any:
    if len(kept) == count:
        return values
    return values[list(kept)] if hasattr(values, "dtype") else [values[index] for index in kept]


def _like(values: Any, done: list[Any]) -> Any:
    """The column as a numpy array of objects, if it was a numpy array before."""
    if not hasattr(values, "dtype"):
        return done
    import numpy

    array = numpy.empty(len(done), dtype=object)
    for index, answer in enumerate(done):
        array[index] = answer
    return array


def _cut_table(answers: Cut, run: _files.Run | None, table: pyarrow.Table, column: str) -> pyarrow.Table:
    import pyarrow

    place = _place(table.schema, column)
    by_file = run and _files.cut_column(run, table.column(place))
    if by_file is not None:
        return table.set_column(place, table.schema.field(place), by_file)
    chunks, masks, first = [], [], 0
    for chunk in table.column(place).chunks:
        done, mask = cut_array(answers, chunk, first)
        chunks.append(done)
        masks.append(mask)
        first += len(chunk)
    field = table.schema.field(place)
    done = table.set_column(place, field, pyarrow.chunked_array(chunks, type=field.type))
    return done if all(mask is None for mask in masks) else done.filter(pyarrow.chunked_array(_whole(masks, chunks)))


def _cut_record_batch(
    answers: Cut, run: _files.Run | None, batch: pyarrow.RecordBatch, column: str
) -> pyarrow.RecordBatch:
    import pyarrow

    place = _place(batch.schema, column)
    by_file = run and _files.cut_column(run, pyarrow.chunked_array([batch.column(place)]))
    if by_file is not None:
        array, mask = by_file.combine_chunks(), None
    else:
        array, mask = cut_array(answers, batch.column(place), 0)
    columns = [array if index == place else batch.column(index) for index in range(batch.num_columns)]
    done = pyarrow.RecordBatch.from_arrays(columns, schema=batch.schema)
    return done if mask is None else done.filter(mask)


def _whole(masks: Sequence[Any], chunks: Sequence[pyarrow.Array]) -> list[pyarrow.Array]:
    import pyarrow

    return [mask if mask is not None else pyarrow.array([True] * len(chunk)) for mask, chunk in zip(masks, chunks)]


def _place(schema: pyarrow.Schema, column: str) -> int:
    place = schema.get_field_index(column)
    if place < 0:
        raise KeyError(f"no single column {column!r}; the batch has {', '.join(map(repr, schema.names))}")
    return int(place)


def cut_array(answers: Cut, array: pyarrow.Array, first: int) -> tuple[pyarrow.Array, pyarrow.Array | None]:
    """Cuts an array of text, bytes or objects.

    Returns:
        The array, with nulls in place of skipped rows; and if rows are skipped, a mask of those that are not.
    """
    import pyarrow

    binary = binary_of(array.type)
    values = (array if binary is None else array.cast(binary)).to_pylist()
    done = answers(values, first)
    if binary is None:
        done = [
            answer if answer is value or answer is DROPPED else fitted(answer, value, array.type, first + nth)
            for nth, (value, answer) in enumerate(zip(values, done))
        ]
    mask = None
    if any(answer is DROPPED for answer in done):
        mask = pyarrow.array([answer is not DROPPED for answer in done])
        done = [None if answer is DROPPED else answer for answer in done]
    if binary is None:
        return array_of(done, array.type, first), mask
    return pyarrow.array(done, binary).cast(array.type), mask


def binary_of(kind: pyarrow.DataType) -> pyarrow.DataType | None:
    """The binary type to which a text type can be cast without a copy; `None` for objects."""
    import pyarrow

    types = pyarrow.types
    if types.is_dictionary(kind):
        return binary_of(kind.value_type)
    if types.is_large_string(kind) or types.is_large_binary(kind):
        return pyarrow.large_binary()
    if types.is_string_view(kind) or types.is_binary_view(kind):
        return pyarrow.binary_view()
    if types.is_string(kind) or types.is_binary(kind):
        return pyarrow.binary()
    return None
