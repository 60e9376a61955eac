"""The exceptions of this package, with the place of an error and the program's message."""

from __future__ import annotations

import re
from typing import Any

_SHOWN = 200

# What a terminal obeys or what reorders the text around it, but for line breaks and tabs.
_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class CurtailError(Exception):
    """The base class of all errors of this package."""


class ProgramNotFoundError(CurtailError, FileNotFoundError):
    """The program `curtail` is not installed where this interpreter looks for it."""


class ArgumentError(CurtailError, ValueError):
    """The arguments do not name a command that answers records, or a flag or an option is wrong."""


class ColumnError(CurtailError, KeyError):
    """The batch has no such column."""

    def __str__(self) -> str:
        return str(self.args[0])


class RecordError(CurtailError, ValueError):
    """A record could not be read or cut.

    Attributes:
        reason: what is wrong.
        index: the number of the record in the call, from 0.
        line: the line within the record, from 1; more than 1 only if the record has several lines.
        column: the column within the line, from 1, in characters; `None` if the error has no place.
        record: the record as it was sent.
    """

    def __init__(
        self, reason: str, index: int = 0, column: int | None = None, record: bytes = b"", line: int = 1
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.index = index
        self.line = line
        self.column = column
        self.record = record

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.reason, self.index, self.column, self.record, self.line))

    def at(self, index: int) -> RecordError:
        """The same error for another record number."""
        return RecordError(self.reason, index, self.column, self.record, self.line)

    def __str__(self) -> str:
        place = f"record {self.index}"
        if self.column is not None:
            place += f", column {self.column}" if self.line == 1 else f", line {self.line}, column {self.column}"
        return printed(f"{place}: {self.reason}" + (f": {shown(self.record)}" if self.record else ""))


def printed(text: str) -> str:
    """`text` with the codes of what a terminal would obey, as the program writes them."""
    return _OBEYED.sub(lambda found: f"\u27e8U+{ord(found[0]):04X}\u27e9", text)


def shown(record: bytes) -> str:
    """The beginning of a record, by which it can be recognized."""
    text = record[: 4 * _SHOWN + 4].decode("utf-8", "backslashreplace")
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
