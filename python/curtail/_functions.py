"""The policies as functions of the messages of one conversation. Options have the names of the flags, with `_` for `-`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeVar, cast

from ._curtail import Notes, command_of
from ._errors import ArgumentError
from ._findings import Finding, findings_of
from ._load import native
from ._values import failure

T = TypeVar("T")

#: One value, or several.
Several = str | Sequence[str]

#: A number of tokens, such as `8000` or `"8k"`.
Tokens = int | str


def window(
    messages: T,
    size: int = 40,
    *,
    strategy: str | None = None,
    unit: str | None = None,
    step: int | None = None,
    max_expansion: int | None = None,
    cap_in_flight: bool = False,
    preserve_system: bool = True,
    pin: Several | None = None,
    start_on: str | None = None,
    keep_first: int | None = None,
    repair: str | None = None,
    repair_pending: bool = False,
    thinking: str | None = None,
    usage: str | None = None,
    live: bool = False,
    dialect: str | None = None,
    messages_key: str | None = None,
) -> T:
    """Keeps the newest `size` messages, with whole pairs of calls and results, as `curtail window` does.

    Args:
        messages: a list of messages, a record that has one, or either as JSON text or bytes.
        size: the number of units to keep.

    Returns:
        The same kind of value. Kept messages are the same objects; without a change, the result is `messages` itself.

    Raises:
        RecordError: the messages cannot be read or cut.
        ArgumentError: an option has an invalid value.
    """
    return _cut("window", messages, {key: value for key, value in locals().items() if key != "messages"})


def limit(
    messages: T,
    max_tokens: Tokens,
    *,
    trigger: Tokens | None = None,
    step: Tokens | None = None,
    on_overflow: str | None = None,
    preserve_system: bool = True,
    pin: Several | None = None,
    tokenizer: str | None = None,
    model: str | None = None,
    overhead: str | int | None = None,
    reserve: Tokens | None = None,
    template: str | None = None,
    tools: str | None = None,
    add_generation_prompt: bool = False,
    repair: str | None = None,
    repair_pending: bool = False,
    thinking: str | None = None,
    usage: str | None = None,
    live: bool = False,
    dialect: str | None = None,
    messages_key: str | None = None,
) -> T:
    """Keeps the newest whole segments that fit a token budget, as `curtail limit` does.

    Args:
        messages: a list of messages, a record that has one, or either as JSON text or bytes.
        max_tokens: the budget, such as `8000`, `"8k"` or `"50%"`.

    Returns:
        The same kind of value. Kept messages are the same objects; without a change, the result is `messages` itself.

    Raises:
        RecordError: the messages cannot be read, or do not fit.
        ArgumentError: an option has an invalid value.
    """
    return _cut("limit", messages, {key: value for key, value in locals().items() if key != "messages"})


def filter(
    messages: T,
    *,
    exclude_tool: Several | None = None,
    include_tool: Several | None = None,
    persist_results: bool = False,
    role: Several | None = None,
    strip: Several | None = None,
    keep_last_results: int | None = None,
    step: int | None = None,
    protect_tokens: Tokens | None = None,
    supersede_reads: bool = False,
    read_tool: Several | None = None,
    dedupe_results: bool = False,
    clear_inputs: bool = False,
    placeholder: str | None = None,
    exempt_tool: Several | None = None,
    clear_tool: Several | None = None,
    trigger: Tokens | None = None,
    clear_at_least: Tokens | None = None,
    cap_result: Tokens | None = None,
    cap_tool: Several | None = None,
    cap_keep: str | None = None,
    keep_last_media: int | None = None,
    max_media_bytes: int | str | None = None,
    max_media_pixels: int | None = None,
    range: str | None = None,
    drop: int | Several | None = None,
    drop_turn: int | Several | None = None,
    pin: Several | None = None,
    repair: str | None = None,
    repair_pending: bool = False,
    thinking: str | None = None,
    usage: str | None = None,
    live: bool = False,
    dialect: str | None = None,
    messages_key: str | None = None,
) -> T:
    """Drops calls with their results, roles and parts, or clears results, as `curtail filter` does.

    Args:
        messages: a list of messages, a record that has one, or either as JSON text or bytes.

    Returns:
        The same kind of value. Kept messages are the same objects; without a change, the result is `messages` itself.

    Raises:
        RecordError: the messages cannot be read or cut.
        ArgumentError: an option has an invalid value.
    """
    return _cut("filter", messages, {key: value for key, value in locals().items() if key != "messages"})


def repair(
    messages: T,
    mode: str | None = None,
    *,
    pending: bool = False,
    profile: str | None = None,
    thinking: str | None = None,
    usage: str | None = None,
    live: bool = False,
    dialect: str | None = None,
    messages_key: str | None = None,
) -> T:
    """Makes the pairs of calls and results whole, as `curtail repair` does.

    Args:
        messages: a list of messages, a record that has one, or either as JSON text or bytes.
        mode: `move`, `drop` or `stub`.

    Returns:
        The same kind of value. Kept messages are the same objects; without a change, the result is `messages` itself.

    Raises:
        RecordError: the messages cannot be read or repaired.
        ArgumentError: an option has an invalid value.
    """
    return _cut("repair", messages, {key: value for key, value in locals().items() if key != "messages"})


def split(
    messages: T,
    max_tokens: Tokens | None = None,
    *,
    overlap: int | str | None = None,
    pin: Several | None = None,
    at: str | None = None,
    targets: str | None = None,
    drop_untrained: bool = False,
    on_overflow: str | None = None,
    mark: str | None = None,
    id_key: str | None = None,
    tokenizer: str | None = None,
    model: str | None = None,
    overhead: str | int | None = None,
    reserve: Tokens | None = None,
    template: str | None = None,
    tools: str | None = None,
    add_generation_prompt: bool = False,
    repair: str | None = None,
    repair_pending: bool = False,
    thinking: str | None = None,
    usage: str | None = None,
    live: bool = False,
    dialect: str | None = None,
    messages_key: str | None = None,
) -> list[T]:
    """Splits a conversation into windows that fit a token budget, for training, as `curtail split` does.

    Args:
        messages: a list of messages, a record that has one, or either as JSON text or bytes.
        max_tokens: the budget of a window.

    Returns:
        The windows, each of the kind of `messages`; their messages are the same objects where they are unchanged.

    Raises:
        RecordError: the messages cannot be read or split.
        ArgumentError: an option has an invalid value.
    """
    windows = _cut("split", messages, {key: value for key, value in locals().items() if key != "messages"})
    return cast("list[T]", windows)


def check(
    messages: Any,
    *,
    deny: Several | None = None,
    warn: Several | None = None,
    allow: Several | None = None,
    strict: bool = False,
    stateful: bool = False,
    profile: str | None = None,
    max_tokens: Tokens | None = None,
    tokenizer: str | None = None,
    model: str | None = None,
    live: bool = False,
    dialect: str | None = None,
    messages_key: str | None = None,
) -> list[Finding]:
    """What a provider would reject, as `curtail check` finds it. Reads no `curtail.toml`.

    Args:
        messages: a list of messages, a record that has one, or either as JSON text or bytes.

    Raises:
        RecordError: the messages cannot be read.
        ArgumentError: an option has an invalid value.
    """
    options = {key: value for key, value in locals().items() if key != "messages"}
    [report] = native.Reader(_command("check", {**options, "no_config": True})).check([messages])
    if isinstance(report, native.Failed):
        raise failure(report, 0)
    return findings_of(report)


def count(
    messages: Any,
    *,
    tokenizer: str | None = None,
    model: str | None = None,
    overhead: str | int | None = None,
    template: str | None = None,
    tools: str | None = None,
    add_generation_prompt: bool = False,
    dialect: str | None = None,
    messages_key: str | None = None,
) -> int:
    """The number of tokens, as `curtail count` counts them.

    Args:
        messages: a list of messages, a record that has one, or either as JSON text or bytes.

    Raises:
        RecordError: the messages cannot be read.
        ArgumentError: an option has an invalid value.
    """
    options = {key: value for key, value in locals().items() if key != "messages"}
    [found] = native.Reader(_command("count", options)).count([messages])
    if isinstance(found, native.Failed):
        raise failure(found, 0)
    return cast(int, found)


def verify(
    before: Any,
    after: Any,
    *,
    min_kept: str | float | None = None,
    require: Several | None = None,
    tokenizer: str | None = None,
    model: str | None = None,
    dialect: str | None = None,
    messages_key: str | None = None,
) -> dict[str, Any]:
    """What a cut lost, as the JSON of `curtail verify` says it; `["summary"]["passed"]` is the verdict.

    Args:
        before: the messages before the cut.
        after: the messages after it, or a text such as a summary.

    Raises:
        ArgumentError: one of them cannot be read, or an option has an invalid value.
    """
    options = {key: value for key, value in locals().items() if key not in ("before", "after")}
    try:
        report = _command("verify", options).verify(before, after)
    except ValueError as error:
        raise ArgumentError(str(error)) from None
    return cast("dict[str, Any]", json.loads(report))


def _command(name: str, options: dict[str, Any]) -> native.Command:
    return _known(tuple(native.command_line(name, options)))


#: An agent calls a function with the same options before every request.
_known = lru_cache(maxsize=64)(command_of)

#: The notes of all these calls.
_notes = Notes()


def _cut(name: str, messages: T, options: dict[str, Any]) -> T:
    if isinstance(messages, list) and any(isinstance(message, list) for message in messages):
        raise ArgumentError("this is a list of lists, and a function takes the messages of one conversation: use Curtail(…).map()")
    [answer], notes = native.Reader(_command(name, options)).cut([messages], False, 1)
    _notes.log(notes, [0])
    if isinstance(answer, native.Failed):
        raise failure(answer, 0)
    return cast(T, answer)
