"""The findings of `curtail check` as data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Place:
    """A place in a record.

    Attributes:
        line: the line, from 1.
        column: the column, from 1, in characters.
        offset: the first byte within the file that was checked, from 0.
        length: the number of bytes.
        pointer: the JSON pointer within the record, if it is JSON.
        message: the number of the message, from 0, if the finding is about one.
    """

    line: int
    column: int
    offset: int
    length: int
    pointer: str | None = None
    message: int | None = None


@dataclass(frozen=True)
class Finding:
    """Something that a provider would reject, or that a dataset should not contain.

    Attributes:
        code: the rule's code, such as `P001`.
        rule: its name, such as `orphan-result`.
        level: `deny` or `warn`.
        message: what is wrong.
        help: how to fix it.
        at: where it is.
        provider_answer: the provider's error message.
        other_half: the place of the counterpart of the call or result, if there is one.
    """

    code: str
    rule: str
    level: str
    message: str
    help: str
    at: Place
    provider_answer: str | None = None
    other_half: Place | None = None


def findings_of(report: bytes) -> list[Finding]:
    """The findings of a report in the format `json`."""
    return [_finding(found) for found in json.loads(report)["findings"]]


def _finding(found: dict[str, Any]) -> Finding:
    other = found.get("other_half")
    return Finding(
        code=found["code"],
        rule=found["rule"],
        level=found["level"],
        message=found["message"],
        help=found["help"],
        at=_place(found["at"]),
        provider_answer=found.get("provider_answer"),
        other_half=None if other is None else _place(other),
    )


def _place(place: dict[str, Any]) -> Place:
    names = ("line", "column", "offset", "length", "pointer", "message")
    return Place(**{name: place[name] for name in names if name in place})
