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
import os
import re
import subprocess
from pathlib import Path

from claude_code_log.converter import load_transcript
from claude_code_log.models import AssistantTranscriptEntry, UserTranscriptEntry
from command_line import main
from judgement import same
from outcomes import Red
from program import PROGRAM, outlines, plain, shown_events
from reader import Reader
from records import values


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


def as_new_session(path, folder, damage=None):
    """A cut becomes a session of its own: the name of its file is the id of all records, and it holds what is shown."""
    if not any("sessionId" in value for value in values(path)):
        return
    project = folder / "projects/kiln"
    project.mkdir(parents=True, exist_ok=True)
    original = project / "original.jsonl"
    original.write_text(re.sub(r'"cwd": ?"[^"]*"', lambda _: f'"cwd":"{folder}"', path.read_text()))
    command = [PROGRAM, "window", "-n", "4", "--as-new-session", original]
    done = subprocess.run(command, env={**os.environ, "CLAUDE_CONFIG_DIR": str(folder)}, capture_output=True, text=True, timeout=60)
    written = Path(done.stdout.strip())
    ids = {value["sessionId"] for value in values(written) if "sessionId" in value} if done.returncode == 0 else None
    if ids != {written.stem} or written.parent.resolve() != project.resolve() or f"claude --resume {written.stem}" not in done.stderr:
        raise Red(f"new session {ids}: {done.stdout} {done.stderr[-300:]}")
    held = [event for event in load(written)[0] if plain(event[1])]
    held = damage(held) if damage else held
    shown = [event for outline in outlines(written, "claude-code") for event in shown_events(outline)]
    if len(held) != len(shown) or not all(map(same, shown, held)):
        raise Red(f"new session: shown {shown[:2]}, held {held[:2]}")


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    main(Reader(load, ["claude-code"], data=["claude-code"], named=NAMED, skip=SKIP, parents="parentUuid", also=as_new_session))
