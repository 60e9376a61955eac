# /// script
# requires-python = ">=3.11"
# dependencies = ["claude-code-log==1.7.0"]
# [tool.reader]
# dialects = ["claude-code"]
# quick = true
# ///
"""claude-code-log: loads a session's entries, and links them to one tree."""

import contextlib
import io
import logging
from pathlib import Path

from claude_code_log.converter import load_transcript
from claude_code_log.models import AssistantTranscriptEntry, UserTranscriptEntry
from shared import main


NAMED = r"^(session-|minimal|parallel|pending|in-flight|reasoning|sidechain|media|split|compaction|glued|state|stream)"
SKIP = {
    "reasoning.jsonl": "the software shows redacted thoughts as text",
    "glued.jsonl": "two records on a line, and one that was cut off, which the software passes over",
    "session-glued.jsonl": "two records on a line, which the software passes over",
    "state.jsonl": "records without the members that the software demands",
    "stream.jsonl": "the stream of a run, which is no session",
}


def events(entry):
    content = entry.message.content
    for block in [content] if isinstance(content, str) else content:
        kind = "text" if isinstance(block, str) else block.type
        if kind == "text":
            yield (entry.type, block if isinstance(block, str) else block.text)
        elif kind == "tool_use":
            yield ("call", block.id)
        elif kind == "tool_result":
            yield ("result", block.tool_use_id)


def load(path):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        entries = load_transcript(Path(path), silent=True)
    if said.getvalue().strip():
        raise ValueError(said.getvalue())
    known, held = set(), []
    for entry in entries:
        parent = getattr(entry, "parentUuid", None)
        if parent and parent not in known:
            raise ValueError("a parent that is not before its record")
        known.add(getattr(entry, "uuid", None))
        if isinstance(entry, (UserTranscriptEntry, AssistantTranscriptEntry)):
            held += events(entry)
    return [held]


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    main(load, ["claude-code"], data=["claude-code"], named=NAMED, skip=SKIP, parents="parentUuid")
