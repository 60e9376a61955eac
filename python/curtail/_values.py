"""Values that JSON lacks, on their way in and back; and answers in place of which something else is returned."""

from __future__ import annotations

import base64
import datetime
import decimal
import json
import math
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from ._errors import ArgumentError, RecordError
from ._load import native

#: How to handle a record that fails: `raise` its error, `skip` the record, `keep` it unchanged, or `return` the error.
OnError = Literal["raise", "skip", "keep", "return"]


def check_on_error(on_error: str) -> None:
    """Refuses other values, with which every record that fails would be dropped.

    Raises:
        ArgumentError: `on_error` is one.
    """
    if on_error not in get_args(OnError):
        raise ArgumentError(f"on_error is 'raise', 'skip', 'keep' or 'return', not {on_error!r}")


class Dropped:
    """The placeholder of a record that is skipped."""


DROPPED = Dropped()


class Rows(list[Any]):
    """The records that one record became, in a split."""


#: Values of tables that are texts in JSON.
_TEXTS = (
    datetime.date,
    datetime.time,
    datetime.timedelta,
    decimal.Decimal,
    uuid.UUID,
    bytes,
    bytearray,
    memoryview,
)


def default(value: Any) -> Any:
    """A value as JSON: a time as ISO 8601, bytes as text or Base64, a model of pydantic as the object that it describes. Tables
    convert texts that look like times to datetimes."""
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray, memoryview)):
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            return base64.b64encode(value).decode()
    if isinstance(value, _TEXTS):
        return str(value)
    if isinstance(value, Mapping):
        # Such as a row of `datasets`.
        return dict(value)
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_none=True)
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def loads_all(texts: Sequence[str], record: Any) -> list[Any]:
    """Reads what is new in the answer to a record, with the values of the record that JSON lacks."""
    originals = _originals(record, "", {})
    if not originals:
        return [json.loads(text) for text in texts]

    def original(key: str, value: Any) -> Any:
        if type(value) is list:
            return [original(key, item) for item in value]
        return originals.get((key, value), value) if value is None or type(value) is str else value

    def restored(members: dict[str, Any]) -> dict[str, Any]:
        return {key: original(key, value) for key, value in members.items()}

    return [json.loads(text, object_hook=restored) for text in texts]


def _originals(value: Any, key: str, found: dict[tuple[str, Any], Any]) -> dict[tuple[str, Any], Any]:
    """Collects the values of a record that JSON lacks, by their key and what is written in their place."""
    if type(value) is dict:
        for name, member in value.items():
            _originals(member, name, found)
    elif type(value) is list:
        for item in value:
            _originals(item, key, found)
    elif isinstance(value, _TEXTS):
        found[key, default(value)] = value
    elif isinstance(value, float) and not math.isfinite(value):
        found[key, None] = value
    return found


def settle(records: Sequence[Any], answers: Sequence[Any], on_error: OnError, numbers: Sequence[int]) -> list[Any]:
    """The answers to records with these numbers. Handles errors by `on_error`."""
    if native.Failed not in set(map(type, answers)):
        return list(answers)
    settled: list[Any] = []
    for number, record, answer in zip(numbers, records, answers):
        if not isinstance(answer, native.Failed):
            settled.append(answer)
        elif on_error == "raise":
            raise failure(answer, number)
        elif on_error == "return":
            settled.append(failure(answer, number))
        else:
            settled.append(record if on_error == "keep" else DROPPED)
    return settled


def failure(failed: native.Failed, index: int) -> RecordError:
    """The exception of the record number `index`, which failed."""
    return RecordError(failed.reason, index, failed.column, failed.record, failed.line)
