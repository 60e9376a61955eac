"""Cuts columns of structs through an Arrow file that the program reads, so that Python creates no message objects."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow

#: Runs the program on an Arrow file; returns whether it wrote the other one.
Run = Callable[[str, str], bool]

#: The name of the column in the file.
COLUMN = "messages"
# The smallest column, in bytes, for which starting a program is worthwhile.
_LEAST = 1 << 20
# A folder whose files are in memory.
_MEMORY = "/dev/shm"


def cut_column(run: Run, column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray | None:
    """Cuts a column of lists of structs.

    Returns:
        The column with fewer messages. `None` if it is small or of another type, or if the program refuses the file because
        a record cannot be read or an answer does more than drop messages.
    """
    import pyarrow

    types = pyarrow.types
    lists = types.is_list(column.type) or types.is_large_list(column.type)
    if not lists or not types.is_struct(column.type.value_type) or column.nbytes < _LEAST:
        return None
    schema = pyarrow.schema([pyarrow.field(COLUMN, column.type)])
    try:
        with tempfile.TemporaryDirectory(prefix="curtail-", dir=_folder(column.nbytes)) as folder:
            old, new = os.path.join(folder, "old.arrow"), os.path.join(folder, "new.arrow")
            with pyarrow.OSFile(old, "wb") as sink, pyarrow.ipc.new_file(sink, schema) as writer:
                for chunk in column.chunks:
                    writer.write_batch(pyarrow.RecordBatch.from_arrays([chunk], schema=schema))
            if not run(old, new):
                return None
            with pyarrow.OSFile(new, "rb") as source:
                done = pyarrow.ipc.open_file(source).read_all().column(0)
    except (OSError, pyarrow.ArrowException):
        # There is no space for the file, or files cannot contain the type.
        return None
    return done if done.type == column.type and len(done) == len(column) else None


def _folder(size: int) -> str | None:
    """A folder in memory, if it has room for a column and its answer."""
    fits = os.path.isdir(_MEMORY) and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > 3 * size
    return _MEMORY if fits else None
