"""Spark: cuts a column of transcripts on every executor, in classic and Connect sessions.

Executors need this package: install the wheel in their Python, or call `ship` once.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Literal

from ._batches import cut_array
from ._curtail import Curtail
from ._errors import ArgumentError, CurtailError, RecordError, printed, shown
from ._load import SHIPPED, native
from ._program import find_program
from ._values import OnError, failure

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, Observation, SparkSession

#: How to handle a row that fails: `raise` its error, `skip` the row, or add the reason as a `column`.
OnRowError = Literal["raise", "skip", "column"]

#: The column of reasons under `on_error="column"`, and the name of the count under `on_error="skip"`.
ERRORS, SKIPPED = "curtail_error", "skipped"

_STATE = "keeps state or writes files, and Spark runs a task again after a failure; run the program itself"
_ASKS = "asks a model or runs a program, and Spark runs a task again after a failure; run the program itself"
_REFUSED = {
    **dict.fromkeys(("--store", "--thread", "--resource", "--follow", "--rejects", "--resume"), _STATE),
    **dict.fromkeys(("-o", "--output", "-O", "--output-dir", "-i", "--in-place"), _STATE),
    "--state": _STATE,
    **dict.fromkeys(("--summarizer-cmd", "--endpoint", "--api-key-file", "--cache"), _ASKS),
}
# A key of a processor and its value, in the format of `curtail run --print`.
_KEY = re.compile(r"""([a-z-]+) = ("(?:[^"\\]|\\.)*"|'[^']*'|[^,}]*)""")


def cut(
    df: DataFrame,
    args: Sequence[str],
    column: str = "value",
    on_error: OnRowError = "raise",
    *,
    skipped: Observation | None = None,
    framing: Literal["records", "lines", "document"] = "records",
) -> DataFrame:
    """Cuts the transcripts of a column. All other columns and the order within a partition are unchanged.

    Args:
        df: the rows; nulls, empty texts and white space are kept unchanged.
        args: a command and its flags, such as `["limit", "-t", "8k"]`. Pass `--dialect` if the rows may have several:
            without it, each partition detects its own.
        column: the column, of text, bytes, or lists of structs.
        on_error: how to handle a row that fails. `column` keeps the row and adds the reason as `curtail_error`.
        skipped: counts the rows that `skip` drops, as `skipped.get["skipped"]` after an action.
        framing: `records` if each row is one record; `lines` if a row is a whole log, and `document` if it is a
            whole JSON document.

    Raises:
        ArgumentError: the command has side effects, or the program rejects the flags.
    """
    _check(args)
    if on_error not in ("raise", "skip", "column"):
        raise ArgumentError(f"on_error is 'raise', 'skip' or 'column', not {on_error!r}")
    if skipped is not None and on_error != "skip":
        raise ArgumentError("skipped counts what on_error='skip' drops")
    if column not in df.columns:
        raise ArgumentError(f"no column {column!r}; there are {', '.join(map(repr, df.columns))}")
    if framing != "records":
        _check_type(df, column, "string", "binary")
    if on_error == "raise":
        return df.mapInArrow(_cutter(tuple(args), column, framing, raises=True), df.schema)
    from pyspark.sql import functions
    from pyspark.sql.types import StringType, StructField, StructType

    schema = StructType([*df.schema.fields, StructField(ERRORS, StringType())])
    done = df.mapInArrow(_cutter(tuple(args), column, framing, raises=False), schema)
    if on_error == "column":
        return done
    if skipped is not None:
        done = done.observe(skipped, functions.count(ERRORS).alias(SKIPPED))
    return done.where(functions.col(ERRORS).isNull()).drop(ERRORS)


def cut_threads(
    df: DataFrame, args: Sequence[str], by: str | Sequence[str], order: str, column: str = "value"
) -> DataFrame:
    """Cuts logs whose rows are messages or events.

    Args:
        df: the rows of many logs.
        args: a command and its flags.
        by: the column or columns that identify the log of a row.
        order: the column by which the rows of a log are sorted.
        column: the column of messages, as text. A row is one line of its log.

    Returns:
        The columns `by`, `position` (from 0, in the log after the cut) and `column`.
    """
    from pyspark.sql.types import LongType, StructField, StructType

    _check(args)
    keys = [by] if isinstance(by, str) else list(by)
    for name in (*keys, order, column):
        if name not in df.columns:
            raise ArgumentError(f"no column {name!r}; there are {', '.join(map(repr, df.columns))}")
    _check_type(df, column, "string", "varchar", "char")
    schema = StructType([*(df.schema[key] for key in keys), StructField("position", LongType()), df.schema[column]])
    rows = df.select(*dict.fromkeys((*keys, order, column)))
    return rows.groupBy(*keys).applyInArrow(_thread_cutter(tuple(args), tuple(keys), order, column), schema)


def read_transcripts(spark: SparkSession, path: str | list[str]) -> DataFrame:
    """The lines of JSONL files as a column `value`. Lines end only with `\\n`, so a `\\r` belongs to its record."""
    return spark.read.text(path, lineSep="\n")


def write_transcripts(df: DataFrame, path: str, column: str = "value", mode: str = "error") -> None:
    """Writes a column as JSONL files, one line per row."""
    df.select(column).write.mode(mode).text(path, lineSep="\n")


def ship(spark: SparkSession, module: str | None = None) -> None:
    """Sends this package to the executors of a session, for clusters where the wheel is not installed.

    Args:
        spark: a classic or a Connect session.
        module: the path of the file `_native` of a wheel for the executors' system; by default that of this machine.
    """
    folder = mkdtemp(prefix="curtail-")
    packed_path, compiled = os.path.join(folder, "curtail-module.zip"), os.path.join(folder, SHIPPED)
    package = os.path.dirname(os.path.abspath(__file__))
    with zipfile.ZipFile(packed_path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in sorted(os.listdir(package)):
            if name.endswith(".py"):
                packed.write(os.path.join(package, name), f"curtail/{name}")
    shutil.copy(module or str(native.__file__), compiled)
    spark.addArtifacts(packed_path, pyfile=True)
    spark.addArtifacts(compiled, file=True)


def _check(args: Sequence[str]) -> None:
    if isinstance(args, str):
        raise ArgumentError(f"args is a list of words, such as {args.split()!r}")
    if args and args[0] == "check":
        raise ArgumentError("`check` cuts nothing; use Curtail.check_all in a function of your own")
    for word, after in zip(args, [*args[1:], ""]):
        flag, _, value = word.partition("=")
        if flag in _REFUSED:
            raise ArgumentError(f"{flag} {_REFUSED[flag]}")
        if flag == "--summarizer" and (value or after) != "extractive":
            raise ArgumentError(f"--summarizer {value or after} {_ASKS}")
    Curtail(args)
    if args[0] == "split":
        raise ArgumentError("`split` makes several rows of one; use Curtail.batch in a function of your own")
    if args[0] == "run":
        _check_chain(args)


def _check_type(df: DataFrame, column: str, *kinds: str) -> None:
    """Rejects a column that has no lines of a log."""
    kind = df.schema[column].dataType.typeName()
    if kind not in kinds:
        raise ArgumentError(f"the column {column!r} is of type {kind}, and logs are {' or '.join(kinds[:2])}")


def _check_chain(args: Sequence[str]) -> None:
    """Rejects a configuration file whose processors keep state, ask a model or run a program."""
    printed = subprocess.run([find_program(), *args, "--print"], capture_output=True, text=True, check=False)
    for processor in printed.stdout.splitlines():
        for key, value in _KEY.findall(processor):
            flag = f"--{key}"
            if flag in _REFUSED or (key == "summarizer" and value.strip("\"'") != "extractive"):
                raise ArgumentError(f"{processor.strip()}: {key} {_REFUSED.get(flag, _ASKS)}")


def _cutter(
    args: tuple[str, ...], column: str, framing: str, raises: bool
) -> Callable[[Iterator[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]:
    """A function that cuts the batches of a partition."""

    def work(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        first = 0
        curtail = Curtail(args)
        for batch in batches:
            if batch.num_rows:
                yield _cut_batch(_Rows(curtail, framing, raises), batch, column, first, raises)
                first += batch.num_rows

    return work


class _Rows:
    """How the rows of a partition are cut: a row that fails stays, and its error is noted."""

    on_error: OnError = "keep"

    def __init__(self, curtail: Curtail, framing: str, raises: bool) -> None:
        self._curtail, self._framing, self._raises = curtail, framing, raises
        self.reasons: dict[int, str] = {}

    def array(self, array: Any, first: int) -> native.Cut:
        found = self._curtail._cut_array(array, first)
        for index, failed in found[1]:
            self.fail(failure(failed, first + index))
        return found

    def column(self, array: pyarrow.Array, first: int) -> pyarrow.Array:
        """A column after the cut."""
        import pyarrow

        if self._framing == "records":
            return cut_array(self, array, first)[0]
        return pyarrow.array([self._whole(text, first + row) for row, text in enumerate(array.to_pylist())], array.type)

    def fail(self, error: RecordError) -> None:
        """Raises the error of a row, or notes it."""
        if self._raises:
            raise _located(error)
        self.reasons[error.index] = _place(error) + error.reason

    def _whole(self, text: Any, number: int) -> Any:
        try:
            return text if text is None or not text.strip() else self._curtail.whole(text, self._framing)
        except RecordError as error:
            self.fail(error.at(number))
            return text


def _cut_batch(how: _Rows, batch: pyarrow.RecordBatch, column: str, first: int, raises: bool) -> pyarrow.RecordBatch:
    import pyarrow

    place = batch.schema.get_field_index(column)
    array = how.column(batch.column(place), first)
    columns = [array if index == place else batch.column(index) for index in range(batch.num_columns)]
    if raises:
        return pyarrow.RecordBatch.from_arrays(columns, schema=batch.schema)
    schema = batch.schema.append(pyarrow.field(ERRORS, pyarrow.string()))
    reasons = [how.reasons.get(first + index) for index in range(batch.num_rows)]
    return pyarrow.RecordBatch.from_arrays([*columns, pyarrow.array(reasons, pyarrow.string())], schema=schema)


def _thread_cutter(
    args: tuple[str, ...], keys: tuple[str, ...], order: str, column: str
) -> Callable[[pyarrow.Table], pyarrow.Table]:
    def work(table: pyarrow.Table) -> pyarrow.Table:
        import pyarrow

        table = table.sort_by(order)
        name = ", ".join(f"{key} {table.column(key)[0].as_py()!r}" for key in keys)
        lines = [line.rstrip("\n") for line in table.column(column).to_pylist() if line is not None]
        if any("\n" in line for line in lines):
            raise CurtailError(f"log of {name}: a row contains a line break, and each row is one line of the log")
        log = "".join(f"{line}\n" for line in lines)
        try:
            cut = Curtail(args).whole(log, "lines") if log else ""
        except RecordError as error:
            raise CurtailError(f"log of {name}: line {error.line}, column {error.column}: {error.reason}") from None
        kept = cut.split("\n")[:-1] if cut else []
        columns = {
            **{key: pyarrow.array([table.column(key)[0].as_py()] * len(kept), table.schema.field(key).type) for key in keys},
            "position": pyarrow.array(range(len(kept)), pyarrow.int64()),
            column: pyarrow.array(kept, table.schema.field(column).type),
        }
        return pyarrow.table(columns)

    return work


def _place(error: RecordError) -> str:
    return "" if error.column is None else f"{error.line}:{error.column}: "


def _located(error: RecordError) -> CurtailError:
    """The error with its row in the text, because only the text of an exception reaches the driver."""
    from pyspark import TaskContext

    context = TaskContext.get()
    partition = "" if context is None else f" of partition {context.partitionId()}"
    return CurtailError(printed(f"row {error.index}{partition}: {_place(error)}{error.reason}: {shown(error.record)}"))
