# /// script
# requires-python = ">=3.10"
# dependencies = []
# [tool.reader]
# dialects = ["opencode"]
# npm = ["opencode-ai@1.18.33"]
# ///
"""OpenCode imports an export and resumes it; what it then sends is compared.

Of its own it adds its instructions, a question before a summary, a result for a call that has none, and the prompt. It sends
the texts of a reply, and the reasoning of another model, as one text, and a summary before the messages that it leaves as they
were: the one is taken apart again, the other put where the export has it.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from command_line import main
from damages import stale_usage
from outcomes import Red, only
from reader import Reader
from server import Model

OWN = ("What did we do so far?", "[Tool execution was interrupted]")
SKIP = dict.fromkeys(["version2.json", "version2-records.json"], "OpenCode 1.18 imports version 1 only")
PROMPT = "OK?"
# As OpenCode has them for Claude.
WINDOW, OUTPUT = 200_000, 32_000
MODEL = {"name": "m", "limit": {"context": WINDOW, "output": OUTPUT}, "tool_call": True, "attachment": True, "modalities": {"input": ["text", "image", "pdf"], "output": ["text"]}}


def settings(url):
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "loop", "options": {"baseURL": f"{url}/v1", "apiKey": "none"}, "models": {"m": MODEL}}
    return {"autoupdate": False, "share": "disabled", "snapshot": False, "model": "loop/m", "small_model": "loop/m", "provider": {"loop": provider}}


def apart(text, parts):
    """The texts of a reply, which were joined to one."""
    while text:
        kind, whole = max((p for p in parts if text.startswith(p[1])), key=lambda p: len(p[1]), default=("text", text))
        if kind == "text":
            yield whole
        text = text[len(whole) :].lstrip("\n")


def events(message, parts):
    role, content = message["role"], message.get("content")
    if role == "tool":
        return [("result", message["tool_call_id"])] if content not in OWN else []
    texts = [content] if isinstance(content, str) else [block["text"] for block in content or [] if block["type"] == "text"]
    if role == "assistant":
        texts = [text for joined in texts for text in apart(joined, parts)]
    return [(role, text) for text in texts if text not in OWN] + [("call", call["id"]) for call in message.get("tool_calls") or []]


def is_title(asked):
    """Whether a request is for a title of the session."""
    return not asked.get("tools") and "title" in json.dumps(asked["messages"][0])


def window(path):
    """Where OpenCode compacts."""
    return WINDOW - OUTPUT


def resume(path, session):
    with Model() as model, tempfile.TemporaryDirectory(dir=Path.home()) as folder:
        work, place = Path(folder, "work"), Path(folder, ".config/opencode/opencode.json")
        work.mkdir()
        place.parent.mkdir(parents=True)
        place.write_text(json.dumps(settings(model.url)))
        alone = {f"OPENCODE_DISABLE_{name}": "1" for name in ("MODELS_FETCH", "AUTOUPDATE", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")}
        for command in (["import", path], ["run", "-s", session, "-m", "loop/m", PROMPT]):
            environment = {"PATH": os.environ["PATH"], "HOME": folder, **alone}
            done = subprocess.run(["opencode", *command], cwd=work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90)
            if done.returncode:
                raise ValueError(f"opencode {command[0]}: {done.stderr[-300:]}")
        if not model.asked:
            raise ValueError(f"opencode sent nothing: {done.stderr[-300:]}")
        asked = only([asked["messages"] for asked in model.asked if not is_title(asked)])
        return [message for message in asked if message["role"] != "system"]


def in_place(held, messages):
    """What was sent, with a summary behind the messages that it leaves as they were, as in the file; OpenCode sends it first."""
    texts = [[(m["info"]["role"], p["text"]) for p in m["parts"] if p["type"] == "text" and p["text"]] for m in messages]
    at = max((at for at, m in enumerate(messages) if m["info"].get("summary") is True), default=None)
    if at is None or not texts[at] or held[:1] != texts[at]:
        return held
    after = next((held.index(text) for later in texts[at + 1 :] for text in later if text in held[1:]), len(held))
    return held[1:after] + held[:1] + held[after:]


def load(path):
    export = json.loads(path.read_text())
    parts = [(p["type"], p["text"]) for m in export["messages"] for p in m["parts"] if p["type"] in ("text", "reasoning") and p["text"]]
    held = [event for message in resume(path, export["info"]["id"]) for event in events(message, parts)]
    if not held or held[-1] != ("user", PROMPT):
        raise Red(f"the prompt is not last: {held[-2:]}")
    return [in_place(held[:-1], export["messages"])]


def lose_result(whole, outline):
    """The first call was never answered."""
    export = json.loads(whole)
    for part in (part for message in export["messages"] for part in message["parts"]):
        if part["type"] == "tool" and part["state"]["status"] == "completed":
            part["state"] = {"status": "running", "input": part["state"]["input"], "time": {"start": 1}}
            return json.dumps(export).encode()
    return None


def change_places(whole, outline):
    """The first two messages have changed their times, by which OpenCode orders them."""
    export = json.loads(whole)
    first, second = (message["info"]["time"] for message in export["messages"][:2])
    first["created"], second["created"] = second["created"], first["created"]
    return json.dumps(export).encode()


BLIND = {
    "drop_result": "a call and its result are one part; see lose_result",
    "call_after_result": "a call and its result are one part; see change_places",
}

if __name__ == "__main__":
    main(
        Reader(
            load,
            ["opencode"],
            data=["opencode"],
            jobs=2,
            results_last=True,
            live=True,
            skip=SKIP,
            damages=[lose_result, change_places, stale_usage],
            window=window,
            blind=BLIND,
            parents="parentID",
        )
    )
