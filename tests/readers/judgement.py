"""Compares the events that `curtail show` lists with those that a reader holds."""

import re
from collections import Counter
from itertools import zip_longest
from typing import NamedTuple

from outcomes import Red
from program import plain


class Unpaired(NamedTuple):
    """Calls without a result after them, and results without a call before them, by id."""

    calls: Counter
    results: Counter


def unpaired(transcripts):
    """The unpaired calls and results of all transcripts of a file."""
    calls, results = Counter(), Counter()
    for events in transcripts:
        waiting = Counter()
        for kind, name in events:
            if kind == "call":
                waiting[name] += 1
            elif kind == "result" and waiting[name]:
                waiting[name] -= 1
            elif kind == "result":
                results[name] += 1
        calls += waiting
    return Unpaired(calls, results)


def compare(shown, held, before):
    """Raises `Red` unless the software holds the transcripts that are shown, without a call or result whose counterpart was
    lost since `before`, the unpaired ones of the uncut file."""
    if len(held) != len(shown):
        raise Red(f"{len(held)} transcripts for {len(shown)}")
    for of_show, of_software in zip(shown, held):
        compare_events(of_show, of_software)
    now = unpaired(held)
    if calls := now.calls - before.calls:
        raise Red(f"calls without a result: {list(calls)}")
    if results := now.results - before.results:
        raise Red(f"results without a call: {list(results)}")


def compare_events(shown, held):
    """Raises `Red` at the first event of `show` that is not the event that the software holds."""
    for at, (one, other) in enumerate(zip_longest(shown, held)):
        if one is None or other is None or not same(one, other):
            raise Red(f"event {at}: shown {shown[at : at + 2]}, held {held[at : at + 2]}")


def same(shown, held):
    """Whether an event of `show`, whose text is shortened, is the event that the reader holds."""
    if shown[0] != held[0]:
        return False
    text = plain(held[1])
    if shown[0] in ("call", "result") or not shown[1].endswith("…"):
        return plain(shown[1]) == text
    return text.startswith(plain(shown[1][:-1]))


def texts(text):
    """A text as `show` lists it: summaries that were put before it are a text of their own."""
    return re.split(r"(?<=</conversation_summaries>)\n\n", text, maxsplit=1)


def reasons(error):
    """Why software refused, without the places and ids that a cut moves."""
    text = re.sub(r"[\d.,\[\]']+|input_value=.*|(?<=error)s(?= for )|For further.*", "", str(error))
    return {type(error).__name__ + ": " + line.strip() for line in text.splitlines() if line.strip()}
