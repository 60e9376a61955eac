"""Defects for any dialect: each takes the bytes and the outline of a transcript, and returns damaged bytes, or None if it has no
place there. Those of one dialect are in its reader's file."""

import re
import tempfile
from pathlib import Path

from program import curtail


def drop_result(whole, outline):
    """The first result is lost."""
    pair = first_pair(outline)
    if not pair:
        return None
    _, (start, end) = pair
    before, after = whole[:start], whole[end:]
    if after.lstrip()[:1] == b",":
        return before + after.lstrip()[1:]
    if before.rstrip()[-1:] == b",":
        return before.rstrip()[:-1] + after
    return before + after


def call_after_result(whole, outline):
    """The first call and its result change places."""
    pair = first_pair(outline)
    if not pair:
        return None
    (a, b), (c, d) = pair
    call, result = whole[a:b].rstrip(b"\n"), whole[c:d].rstrip(b"\n")
    return whole[:a] + result + whole[a + len(call) : c] + call + whole[c + len(result) :]


def first_pair(outline):
    """The spans of the first message with a call and of the later one with its result, or None."""
    items = {item["message"]["index"]: item for item in outline["items"] if "message" in item}
    for index, item in items.items():
        for part in item["message"]["parts"]:
            answer = part.get("pair", [index])[0]
            if part["kind"] == "tool-call" and answer > index:
                return item["span"], items[answer]["span"]
    return None


def stale_usage(whole, outline):
    """The newest exchange, with the usage of the whole session."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "session.jsonl" if b"}\n{" in whole else "session.json")
        path.write_bytes(whole)
        kept, reset = (curtail("window", "-n", 1, "--unit", "turns", "--usage", how, path) for how in ("keep", "reset"))
    return kept if kept != reset else None


def wrong_parent(key):
    """The defect that the last record with a parent names one that does not exist, by this key."""

    def wrong_parent(whole, outline):
        found = [*re.finditer(rb'"%s":\s*"' % key.encode(), whole)]
        return whole[: found[-1].end()] + b"z" + whole[found[-1].end() + 1 :] if found else None

    return wrong_parent
