# /// script
# requires-python = ">=3.10"
# dependencies = ["claude-code-transcripts==0.6"]
# [tool.reader]
# dialects = ["claude-code"]
# quick = true
# ///
"""claude-code-transcripts: parses a session and writes its pages."""

import contextlib
import io
import tempfile

from claude_code_transcripts import generate_html, parse_session_file
from command_line import main
from reader import Reader


SKIP = {
    "glued.jsonl": "two records on a line, and one that was cut off, which the software passes over",
    "session-glued.jsonl": "two records on a line, which the software passes over",
    "small.jsonl": "calls without an id",
    "large.jsonl": "calls without an id",
}


def events(line):
    content = line["message"].get("content", "")
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        if block["type"] == "text":
            yield (line["type"], block["text"])
        elif block["type"] == "tool_use":
            yield ("call", block["id"])
        elif block["type"] == "tool_result":
            yield ("result", block["tool_use_id"])


def load(path):
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        generate_html(path, folder)
    return [[e for line in parse_session_file(path)["loglines"] for e in events(line)]]


if __name__ == "__main__":
    main(
        Reader(
            load,
            ["claude-code"],
            data=["claude-code", "agent-sessions/claude"],
            skip=SKIP,
            parents="parentUuid",
            blind={"wrong_parent": "it shows records in the order of the file, and does not read their parents"},
        )
    )
