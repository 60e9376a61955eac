"""Converts records to lines of bytes, and answers to the form of their records."""

from __future__ import annotations

import base64
import datetime
import decimal
import json
import math
import re
import uuid
from collections.abc import Callable, Sequence
from json import encoder
from typing import Any, Literal

from ._errors import ProgramError, RecordError

#: How to handle a record that fails: `raise` its error, `skip` the record, `keep` it unchanged, or `return` the error.
OnError = Literal["raise", "skip", "keep", "return"]

#: A line to send or to return, or the error in its place.
Line = bytes | RecordError

_PLACE = re.compile(r"^stdin:(\d+):(\d+): (.*)$")
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")


class Dropped:
    """The placeholder of a record that is skipped."""


DROPPED = Dropped()


def encode(record: Any, sparse: bool = False) -> bytes:
    """A record as bytes: bytes and text unchanged, an object as JSON, and `None`, a null of a table, as no bytes.

    With `sparse`, nulls in an object are omitted: in a table, they only mean that a message lacks the key. Numbers that JSON
    does not have, such as NaN, are null, as they are for the program in a file.

    Raises:
        RecordError: it is neither bytes nor text nor an object that JSON can represent.
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
        return _encode_object(_without_nulls(record) if sparse else record)
    # The program would decompress them, and treat all further records as a part of the compressed stream.
    if line.startswith(_PACKED):
        raise RecordError("compressed bytes; decompress them first", column=1, record=line)
    return line


def _without_nulls(value: Any) -> Any:
    if type(value) is dict:
        return {key: _without_nulls(member) for key, member in value.items() if member is not None}
    if type(value) is list:
        return [_without_nulls(item) for item in value]
    return value if _is_json(value) else None


def encode_all(records: Sequence[Any], sparse: bool = False) -> list[Line]:
    """Every record as bytes, or the error of one that cannot be encoded."""
    lines: list[Line] = []
    for record in records:
        try:
            lines.append(encode(record, sparse))
        except RecordError as error:
            lines.append(error)
    return lines


class Encoded(bytes):
    """An object as JSON, so that an answer that only drops some of its messages needs no parser."""

    #: The object that was written, without its nulls if it is sparse.
    record: Any
    #: The key of its list of messages; `None` if the object is that list itself.
    key: str | None
    #: The messages; none if it has no such list.
    messages: list[Any]
    #: The function that wrote the object, which writes its parts the same way.
    dumps: Callable[[Any], bytes]

    def parts(self) -> tuple[bytes, list[bytes], bytes]:
        """The bytes before the first message, those of every message, and the bytes after the last."""
        messages = [self.dumps(message) for message in self.messages]
        if self.key is None:
            return b"[", messages, b"]"
        names = list(self.record)
        at = names.index(self.key)
        before = b"".join(self._member(name) + b"," for name in names[:at])
        after = b"".join(b"," + self._member(name) for name in names[at + 1 :])
        return b"{" + before + self.dumps(self.key) + b":[", messages, b"]" + after + b"}"

    def _member(self, name: str) -> bytes:
        return self.dumps(name) + b":" + self.dumps(self.record[name])


def _is_json(value: Any) -> bool:
    """Whether a value that is no list and no object is no number that JSON lacks."""
    return not isinstance(value, float) or math.isfinite(value)


#: Values of tables that are texts for the program.
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


def _default(value: Any) -> Any:
    """A value of a table as JSON: a time as ISO 8601, bytes as text or Base64. Tables convert texts that look like times to
    datetimes."""
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray, memoryview)):
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            return base64.b64encode(value).decode()
    if isinstance(value, _TEXTS):
        return str(value)
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _originals(value: Any, key: str, found: dict[tuple[str, Any], Any]) -> dict[tuple[str, Any], Any]:
    """Collects the values of a record that JSON lacks, by their key and what is written in their place."""
    if type(value) is dict:
        for name, member in value.items():
            _originals(member, name, found)
    elif type(value) is list:
        for item in value:
            _originals(item, key, found)
    elif isinstance(value, _TEXTS):
        found[key, _default(value)] = value
    elif not _is_json(value):
        found[key, None] = value
    return found


def _loads(answer: bytes, record: Any) -> Any:
    """The answer as an object, with the values of the record that JSON lacks."""
    originals = _originals(record, "", {})
    if not originals:
        return json.loads(answer)

    def original(key: str, value: Any) -> Any:
        if type(value) is list:
            return [original(key, item) for item in value]
        return originals.get((key, value), value) if value is None or type(value) is str else value

    def restored(members: dict[str, Any]) -> dict[str, Any]:
        return {key: original(key, value) for key, value in members.items()}

    return json.loads(answer, object_hook=restored)


def _encoder(ensure_ascii: bool) -> Callable[[Any], str]:
    """A function like `json.dumps` with compact separators, which does not create an encoder for every call."""
    plain = json.JSONEncoder(ensure_ascii=ensure_ascii, allow_nan=False, separators=(",", ":"), default=_default)
    make = getattr(encoder, "c_make_encoder", None)
    if make is None:
        return plain.encode
    quote = encoder.encode_basestring_ascii if ensure_ascii else encoder.encode_basestring
    encode = make(None, _default, quote, None, ":", ",", False, False, False)
    return lambda value: "".join(encode(value, 0))


try:
    from orjson import dumps as _orjson
except ImportError:
    _dumps_fast: Callable[[Any], bytes] | None = None
else:
    _dumps_fast = _orjson

# The ASCII encoder is faster for texts in which nothing needs an escape.
_encode_ascii, _encode_any = _encoder(True), _encoder(False)


def _dumps_ascii(value: Any) -> bytes:
    return _encode_ascii(value).encode()


def _dumps_any(value: Any) -> bytes:
    return _encode_any(value).encode()


def _encode_object(record: Any) -> bytes:
    key, messages = _messages_of(record)
    values = [value for message in messages for value in message.values()]
    texts = [value for value in values if type(value) is str]
    # orjson also writes values that are not JSON, each in its way, so it only gets messages of texts.
    fast = _dumps_fast if len(texts) == len(values) > 0 and (key is None or len(record) == 1) else None
    slow = _dumps_ascii if all(text.isascii() for text in texts) else _dumps_any
    encoded = None
    try:
        # A lone surrogate cannot be written as UTF-8, but as an escape.
        for dumps in (fast, slow, _dumps_ascii):
            encoded = _encoded(record, dumps) if dumps and encoded is None else encoded
        if encoded is None:
            raise ValueError("text that is not Unicode")
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordError(f"not JSON: {error}", record=repr(record)[:200].encode("utf-8", "backslashreplace")) from error
    encoded.record, encoded.key, encoded.messages = record, key, messages
    return encoded


def _encoded(record: Any, dumps: Callable[[Any], bytes]) -> Encoded | None:
    """The record as written by `dumps`; `None` if `dumps` cannot write one of its values."""
    try:
        encoded = Encoded(dumps(record))
    except UnicodeEncodeError:
        return None
    except TypeError:
        if dumps is not _dumps_fast:
            raise
        return None
    encoded.dumps = dumps
    return encoded


def _messages_of(record: Any) -> tuple[str | None, list[Any]]:
    """The key of the list of messages, and the messages; no messages if there is no such list."""
    if type(record) is list and _is_list_of_objects(record):
        return None, record
    if type(record) is dict and all(type(key) is str for key in record):
        for key, value in record.items():
            if type(value) is list and _is_list_of_objects(value):
                return key, value
    return None, []


def _is_list_of_objects(value: list[Any]) -> bool:
    return bool(value) and all(type(item) is dict for item in value)


def _kept(record: Any, line: Encoded, answer: bytes) -> Any:
    """The record with only the messages that the answer kept, as the same objects; `None` if the answer changed more."""
    if not line.messages:
        return None
    head, parts, tail = line.parts()
    at, end = len(head), len(answer) - len(tail)
    if at > end or not (answer.startswith(head) and answer.endswith(tail)):
        return None
    messages = []
    for message, part in zip(record if line.key is None else record[line.key], parts):
        # A serialized message ends with its closing brace, so it cannot be the beginning of another message.
        if answer.startswith(part, at, end):
            messages.append(message)
            at += len(part) + 1
    if at != (end + 1 if messages else end):
        return None
    return messages if line.key is None else {**record, line.key: messages}


def settle(
    records: Sequence[Any], lines: Sequence[Line], answers: Sequence[Line], on_error: OnError, first: int
) -> list[Any]:
    """The answers in the form of the records, where `first` is the number of the first one. Handles errors by `on_error`."""
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
    if answer == line or record is None:
        return record
    kept = _kept(record, line, answer) if isinstance(line, Encoded) else None
    return _loads(answer, record) if kept is None else kept


def reported(record: bytes, answer: bytes) -> RecordError:
    """The error that `--on-error report` writes in place of a record."""
    report = json.loads(answer[1:])
    return RecordError(report["reason"], column=report["column"], record=record)


def words_of(stderr: bytes) -> str:
    """The program's message on standard error, without the program's name."""
    lines = stderr.decode("utf-8", "backslashreplace").strip().splitlines()
    return "\n".join(line.removeprefix("curtail: ").removeprefix("error: ") for line in lines)


def error_of(status: int, said: str, record: bytes) -> RecordError | ProgramError:
    """The error of a program that ended instead of answering `record`."""
    if status != 2:
        return ProgramError(status, said)
    last = said.splitlines()[-1] if said else "the program gives no reason"
    place = _PLACE.match(last)
    if place is None:
        return RecordError(last, record=record)
    return RecordError(place[3], column=int(place[2]), record=record, line=int(place[1]))
