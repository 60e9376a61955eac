"""Records as lines of bytes, and answers in the form of their records."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Literal

from ._errors import ProgramError, RecordError

#: How to handle a record that fails: `raise` its error, `skip` the record, `keep` it unchanged, or `return` the error.
OnError = Literal["raise", "skip", "keep", "return"]

#: A line to send or to return, or why there is none.
Line = bytes | RecordError

_PLACE = re.compile(r"^stdin:(\d+):(\d+): (.*)$")
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")


class Dropped:
    """In place of a record that is skipped."""


DROPPED = Dropped()


def encode(record: Any) -> bytes:
    """A record as bytes: as it is, or written as JSON. `None`, a null of a table, has none.

    Raises:
        RecordError: it is neither bytes nor text nor an object that JSON can hold.
    """
    if isinstance(record, bytes):
        line = record
    elif isinstance(record, str):
        try:
            line = record.encode()
        except UnicodeEncodeError as error:
            raise RecordError(f"text that is not Unicode: {error.reason}", column=error.start + 1) from error
    elif isinstance(record, (bytearray, memoryview)):
        line = bytes(record)
    elif record is None:
        line = b""
    else:
        line = _dumps(record)
    # The program would decompress them, and take what follows for a part of the same stream.
    if line.startswith(_PACKED):
        raise RecordError("compressed bytes; decompress them first", column=1, record=line)
    return line


def encode_all(records: Sequence[Any]) -> list[Line]:
    """Every record as bytes, or the reason why it is none."""
    lines: list[Line] = []
    for record in records:
        try:
            lines.append(encode(record))
        except RecordError as error:
            lines.append(error)
    return lines


def _dumps(record: Any) -> bytes:
    try:
        try:
            return json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:
            # Half of a surrogate pair has no UTF-8, but an escape.
            return json.dumps(record, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordError(f"not JSON: {error}", record=repr(record)[:200].encode("utf-8", "backslashreplace")) from error


def settle(
    records: Sequence[Any], lines: Sequence[Line], answers: Sequence[Line], on_error: OnError, first: int
) -> list[Any]:
    """The answers in the form of the records, the first of which has the number `first`."""
    settled: list[Any] = []
    for nth, (record, line, answer) in enumerate(zip(records, lines, answers)):
        if isinstance(answer, bytes):
            settled.append(_like(record, line, answer))
        elif on_error == "raise":
            raise answer.at(first + nth)
        elif on_error == "return":
            settled.append(answer.at(first + nth))
        else:
            settled.append(record if on_error == "keep" else DROPPED)
    return settled


def _like(record: Any, line: Line, answer: bytes) -> Any:
    if isinstance(record, str):
        return answer.decode()
    if isinstance(record, (bytes, bytearray, memoryview)):
        return answer
    return record if answer == line or record is None else json.loads(answer)


def reported(record: bytes, answer: bytes) -> RecordError:
    """The error that `--on-error report` writes in place of a record."""
    report = json.loads(answer[1:])
    return RecordError(report["reason"], column=report["column"], record=record)


def words_of(stderr: bytes) -> str:
    """What the program said, without its name."""
    lines = stderr.decode("utf-8", "backslashreplace").strip().splitlines()
    return "\n".join(line.removeprefix("curtail: ").removeprefix("error: ") for line in lines)


def error_of(status: int, said: str, record: bytes) -> RecordError | ProgramError:
    """Why a program ended that should have read `record`."""
    if status != 2:
        return ProgramError(status, said)
    last = said.splitlines()[-1] if said else "the program gives no reason"
    place = _PLACE.match(last)
    if place is None:
        return RecordError(last, record=record)
    return RecordError(place[3], column=int(place[2]), record=record, line=int(place[1]))
