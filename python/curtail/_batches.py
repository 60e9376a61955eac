"""Cuts batches of columns: mappings, and Arrow tables and record batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ._errors import ColumnError
from ._load import native
from ._values import DROPPED, OnError, Rows, failure

if TYPE_CHECKING:
    import pyarrow


class CutArrays(Protocol):
    """Cuts arrays, and says what to do with rows that fail."""

    on_error: OnError

    def array(self, array: Any, first: int) -> native.Cut:
        """What `native.cut_array` returns."""


class Cut(CutArrays, Protocol):
    """Cuts records as well."""

    def records(self, records: Sequence[Any], numbers: Sequence[int]) -> list[Any]:
        """The answers to records with these numbers. One that is skipped is `DROPPED`, and one that is split `Rows`."""


#: The keys by which a message says who speaks.
_SPEAKERS = {"role", "from"}


def cut(how: Cut, batch: Any, column: str) -> Any:
    """Cuts `column` of a batch of any kind."""
    if isinstance(batch, Mapping):
        return _cut_mapping(how, batch, column)
    kind = f"{type(batch).__module__.partition('.')[0]}.{type(batch).__name__}"
    if kind == "pyarrow.RecordBatch":
        return _cut_record_batch(how, batch, column)
    if kind == "pandas.DataFrame":
        raise TypeError(
            "a batch is a mapping of columns or an Arrow table, and this is a frame of pandas: pass "
            "pyarrow.Table.from_pandas(frame), and to_pandas() of the result; with Ray, batch_format='pyarrow'"
        )
    if kind != "pyarrow.Table":
        batch = _table_of(batch, kind)
    return _cut_table(how, batch, column)


def _table_of(batch: Any, kind: str) -> pyarrow.Table:
    """A table of another library."""
    if not hasattr(batch, "__arrow_c_stream__"):
        raise TypeError(f"a batch is a mapping of columns or an Arrow table, not {kind}; see to_arrow() of its library, or cut records with map()")
    import pyarrow

    return pyarrow.table(batch)


def _cut_mapping(how: Cut, batch: Mapping[str, Any], column: str) -> dict[str, Any]:
    if column not in batch:
        raise _no_column(column, list(batch))
    values = batch[column]
    if _is_one_row(values):
        raise TypeError(
            f"batch takes many rows, and the column {column!r} has the messages of one: with datasets, write "
            "`map(curtail.batch, batched=True)`; to cut one record, use one()"
        )
    records = [_plain(value) for value in values] if hasattr(values, "dtype") else list(values)
    done = how.records(records, range(len(records)))
    origins, rows = _rows(done)
    columns = {name: _take(batch[name], origins, len(done)) for name in batch if name != column}
    return {name: _like(values, rows) if name == column else columns[name] for name in batch}


def _is_one_row(values: Any) -> bool:
    """Whether a column is the column of one row: a text, or messages in place of records."""
    if isinstance(values, (str, bytes)):
        return True
    first = next((value for value in values if value is not None), None) if isinstance(values, list) else None
    return isinstance(first, dict) and not _SPEAKERS.isdisjoint(first)


def _no_column(column: str, names: Sequence[str]) -> ColumnError:
    return ColumnError(f"no column {column!r}; the batch has {', '.join(map(repr, names))}: name one, such as column={names[-1]!r}" if names else f"no column {column!r}; the batch has none")


def _rows(done: Sequence[Any]) -> tuple[list[int] | None, list[Any]]:
    """The rows of an answer, and the index of the record that each comes from; `None` if each comes from its own."""
    if not any(answer is DROPPED or isinstance(answer, Rows) for answer in done):
        return None, list(done)
    placed = [(index, row) for index, answer in enumerate(done) for row in _each(answer)]
    return [index for index, _ in placed], [row for _, row in placed]


def _each(answer: Any) -> Iterator[Any]:
    if isinstance(answer, Rows):
        yield from answer
    elif answer is not DROPPED:
        yield answer


def _plain(value: Any) -> Any:
    """An array as a list, because Ray passes lists in columns as numpy arrays. The texts of numpy are texts."""
    is_array = hasattr(value, "dtype") and hasattr(value, "__len__") and not isinstance(value, (str, bytes))
    return [_plain(item) for item in value] if is_array else value


def _take(values: Any, origins: Sequence[int] | None, count: int) -> Any:
    if origins is None:
        return values
    # A series of pandas has positions beside its index.
    return getattr(values, "iloc", values)[list(origins)] if hasattr(values, "dtype") else [values[index] for index in origins]


def _like(values: Any, done: list[Any]) -> Any:
    """The column as a numpy array of objects, if it was a numpy array before."""
    if not hasattr(values, "dtype"):
        return done
    import numpy

    array = numpy.empty(len(done), dtype=object)
    for index, answer in enumerate(done):
        array[index] = answer
    return array


def _cut_table(how: Cut, table: pyarrow.Table, column: str) -> pyarrow.Table:
    import pyarrow

    place = _place(table.schema, column)
    chunks: list[pyarrow.Array] = []
    origins: list[int] = []
    first, is_reshaped = 0, False
    for chunk in table.column(place).chunks:
        done, came_from = cut_array(how, chunk, first)
        is_reshaped |= came_from is not None
        chunks.append(done)
        origins.extend(first + index for index in (range(len(chunk)) if came_from is None else came_from))
        first += len(chunk)
    field = table.schema.field(place)
    cut = pyarrow.chunked_array(chunks, field.type)
    if is_reshaped:
        table = table.take(_indices(origins))
    return table.set_column(place, field, cut)


def _cut_record_batch(how: Cut, batch: pyarrow.RecordBatch, column: str) -> pyarrow.RecordBatch:
    import pyarrow

    place = _place(batch.schema, column)
    array, origins = cut_array(how, batch.column(place), 0)
    if origins is not None:
        batch = batch.take(_indices(origins))
    columns = [array if index == place else batch.column(index) for index in range(batch.num_columns)]
    return pyarrow.RecordBatch.from_arrays(columns, schema=batch.schema)


def _place(schema: pyarrow.Schema, column: str) -> int:
    place = schema.get_field_index(column)
    if place < 0:
        raise _no_column(column, schema.names)
    return int(place)


def cut_array(how: CutArrays, array: pyarrow.Array, first: int) -> tuple[pyarrow.Array, list[int] | None]:
    """Cuts an array of text, bytes or objects.

    Returns:
        The array, and the index of the row that each of its rows comes from; `None` if each comes from its own.
    """
    cut, failed, origins, _ = how.array(array, first)
    cut = array if cut is None else cut
    if how.on_error == "raise" and failed:
        index, reason = failed[0]
        raise failure(reason, first + index)
    dropped = {index for index, _ in failed} if how.on_error == "skip" else set()
    if not dropped:
        return cut, origins
    rows = enumerate(range(len(array)) if origins is None else origins)
    kept = [(row, origin) for row, origin in rows if origin not in dropped]
    return cut.take(_indices([row for row, _ in kept])), [origin for _, origin in kept]


def _indices(indices: list[int]) -> pyarrow.Array:
    import pyarrow

    return pyarrow.array(indices, pyarrow.int64())
