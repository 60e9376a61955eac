"""Reads the JSON of transcripts for `load`, and writes it for `made`."""

import json
import re
from pathlib import Path

KEYS = ("messages", "conversations", "conversation", "items", "input", "contents", "history", "trajectory", "traj", "events")


def values(path):
    """The JSON values of a file, one after the other; an incomplete last line is passed over."""
    text, decoder, at, found = Path(path).read_text(encoding="utf-8"), json.JSONDecoder(), 0, []
    while True:
        at = re.compile(r"\s*").match(text, at).end()
        if at == len(text):
            return found
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError:
            if found and "\n" not in text[at:].strip():
                return found
            raise
        found.append(value)


def transcripts(path, key=None):
    """Each transcript of a file as its messages, and the record that contains them; the messages are under `key`, or under one
    of the usual keys."""
    found = values(path)
    if len(found) == 1 and isinstance(found[0], list):
        found = found[0]
    keys = (key,) if key else KEYS
    pairs = [(messages_of(record, keys), record) for record in found]
    if all(isinstance(messages, list) for messages, _ in pairs):
        return pairs
    return [(found, None)]


def messages_of(record, keys):
    """The list under the first of the keys that has one; a record that is no object is its own."""
    if not isinstance(record, dict):
        return record
    return next((record[key] for key in keys if isinstance(record.get(key), list)), None)


def lines(values):
    """Values as JSON, a line each."""
    return "".join(json.dumps(value) + "\n" for value in values)


def validated(adapter, value):
    """The value, if a pydantic adapter accepts all of it: fields that pydantic validates only when they are read are read."""
    read_all(adapter.validate_python(value))
    return value


def read_all(checked):
    if isinstance(checked, dict):
        checked = checked.values()
    if not isinstance(checked, (str, bytes, int, float, bool, type(None))) and hasattr(checked, "__iter__"):
        for inner in checked:
            read_all(inner)
