# /// script
# requires-python = ">=3.10"
# dependencies = []
# [tool.reader]
# dialects = ["gemini"]
# npm = ["@google/gemini-cli@0.61.0"]
# ///
"""Gemini CLI resumes a recording; what it then sends is compared.

Of its own it adds its instructions, a first message of the user with the context of the session, a note that an
answer was interrupted, and the prompt. The results of a recording stand beside their calls and in a line of the user; it
sends both, and they are compared once.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from command_line import main
from outcomes import Red, only
from reader import Reader
from server import Model

SKIP = {"large.json": "it has messages of type model, which Gemini CLI passes over"}
OWN = ("<session_context>", "[The previous response was interrupted")
PROMPT = "Say OK."


def events(content):
    for part in content["parts"]:
        if part.get("text") and not part.get("thought"):
            yield ("assistant" if content["role"] == "model" else "user", part["text"])
        if "functionCall" in part:
            yield ("call", part["functionCall"].get("id") or part["functionCall"]["name"])
        if "functionResponse" in part:
            yield ("result", part["functionResponse"].get("id") or part["functionResponse"]["name"])


def resume(path):
    with Model() as model, tempfile.TemporaryDirectory(dir=Path.home()) as folder:
        settings = Path(folder, ".gemini/settings.json")
        settings.parent.mkdir()
        settings.write_text(json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False}, "general": {"disableAutoUpdate": True, "enableAutoUpdate": False}}))
        session = Path(folder, path.name)
        shutil.copy(path, session)
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": model.url}
        command = ["gemini", "--skip-trust", "--session-file", session, "-m", "gemini-2.5-flash", "-p", PROMPT]
        done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90)
        asked = [asked for asked in model.asked if "contents" in asked]
        if done.returncode or not asked:
            raise ValueError(f"gemini {done.returncode}: {done.stderr[-300:]}")
        return [e for content in only(asked)["contents"] for e in events(content)]


def window(path):
    """Where Gemini CLI compresses: at half the window of gemini-2.5-flash, by its own estimate."""
    return 1_048_576 // 2


def once(held):
    """The events without results that were sent before, since the call of their id."""
    answered = set()
    for kind, what in held:
        if kind == "call":
            answered.discard(what)
        elif kind == "result" and what in answered:
            continue
        elif kind == "result":
            answered.add(what)
        yield (kind, what)


def adapt(shown):
    """What the program adds is left out of a recording as well: it writes the context of the session there. It writes the name
    of a tool in front of an id, and sends the id without it."""
    own = [e for e in shown if not str(e[1]).startswith(OWN)]
    return [(kind, re.sub(r"^(\w+)__(?=\1)", "", what) if kind in ("call", "result") else what) for kind, what in own]


def load(path):
    held = list(once(resume(path)))
    if not held or held[-1] != ("user", PROMPT):
        raise Red(f"the prompt is not last: {held[-2:]}")
    return [[e for e in held[:-1] if not str(e[1]).startswith(OWN)]]


def drop_result_of_call(whole, outline):
    """The calls have lost their results."""
    damaged = re.sub(rb'"result":\s*\[[^\]]*\]', b'"result": []', whole)
    return damaged if damaged != whole else None


def call_after_answer(whole, outline):
    """The first answer and the one after it have changed places."""
    lines = whole.splitlines(True)
    places = [at for at, line in enumerate(lines) if b'"type":"gemini"' in line and b'"$set"' not in line]
    if len(places) < 2:
        return None
    a, b = places[0], places[-1]
    lines[a], lines[b] = lines[b], lines[a]
    return b"".join(lines)


BLIND = {"drop_result": "a result is in its call as well, and is sent from there; see drop_result_of_call", "call_after_result": "a call holds its result; see call_after_answer"}

if __name__ == "__main__":
    main(
        Reader(
            load,
            ["gemini"],
            adapt=adapt,
            data=["agent-sessions/gemini", "gemini/cli-jsonl"],
            named=r"^cli|large|small|jsonl_v040|resumed",
            jobs=2,
            skip=SKIP,
            results_last=True,
            live=True,
            window=window,
            damages=[drop_result_of_call, call_after_answer],
            blind=BLIND,
        )
    )
