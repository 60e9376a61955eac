# /// script
# requires-python = ">=3.10"
# dependencies = ["strands-agents==1.62.0"]
# [tool.reader]
# dialects = ["strands"]
# quick = true
# ///
"""strands-agents restores an agent from the messages of a session.

Each message is in a file of its own, whose name has its number: what is cut is numbered from 0.
"""

import base64
import json
import logging
import tempfile
from pathlib import Path

from command_line import main
from conversation import PICTURE, SYSTEM, TURNS
from reader import Reader
from records import lines, values
from strands import Agent
from strands.models.bedrock import BedrockModel
from strands.session.file_session_manager import FileSessionManager

BYTES = base64.b64decode(PICTURE)


def build():
    for number, turn in enumerate(TURNS):
        picture = [{"image": {"format": "png", "source": {"bytes": BYTES}}}] * (number == 2)
        yield {"role": "user", "content": [{"text": turn.asked}, *picture]}
        if turn.calls:
            thought = [{"reasoningContent": {"reasoningText": {"text": turn.thought, "signature": "c2ln"}}}] * bool(turn.thought)
            uses = [{"toolUse": {"toolUseId": c.id, "name": c.name, "input": c.arguments}} for c in turn.calls]
            yield {"role": "assistant", "content": thought + [{"text": turn.said}] * bool(turn.said) + uses}
            yield {"role": "user", "content": [result(call) for call in turn.calls]}
        yield {"role": "assistant", "content": [{"text": turn.answer}]}


def result(call):
    return {"toolResult": {"toolUseId": call.id, "status": "error" if call.failed else "success", "content": [{"text": call.result}]}}


def agent(folder, **rest):
    model = BedrockModel.__new__(BedrockModel)
    return Agent(model, session_manager=FileSessionManager("s", folder), agent_id="a", system_prompt=SYSTEM, callback_handler=None, **rest)


def stored(folder):
    return sorted(Path(folder).rglob("message_*.json"), key=lambda path: int(path.stem.split("_")[1]))


def made():
    with tempfile.TemporaryDirectory() as folder:
        agent(folder, messages=list(build()))
        found = [path.read_text() for path in stored(folder)]
    yield "lines.jsonl", lines(json.loads(text) for text in found)
    yield "list.json", [json.loads(text) for text in found]


def events(message):
    for part in message["content"]:
        if "text" in part:
            yield (message["role"], part["text"])
        elif "toolUse" in part:
            yield ("call", part["toolUse"]["toolUseId"])
        elif "toolResult" in part:
            yield ("result", part["toolResult"]["toolUseId"])


def load(path):
    found = values(path)
    with tempfile.TemporaryDirectory() as folder:
        agent(folder, messages=[{"role": "user", "content": [{"text": "OK."}]}])
        first = stored(folder)[0]
        first.unlink()
        for number, message in enumerate(found[0] if isinstance(found[0], list) else found):
            first.with_name(f"message_{number}.json").write_text(json.dumps(message))
        return [[e for message in agent(folder).messages for e in events(message)]]


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    main(Reader(load, ["strands"], made=made))
