# /// script
# requires-python = ">=3.10"
# dependencies = ["agno==3.1.10"]
# [tool.reader]
# dialects = ["agno"]
# quick = true
# ///
"""agno loads sessions with `AgentSession.from_dict`, whose `get_messages` is the history of the next run."""

import base64
import json

from agno.media import Image
from agno.models.message import Message
from agno.run.agent import RunOutput
from agno.run.base import RunStatus
from agno.session.agent import AgentSession
from command_line import main
from conversation import PICTURE, SYSTEM, TURNS
from reader import Reader
from records import lines, values


def exchange(number, turn):
    picture = [Image(content=base64.b64decode(PICTURE), mime_type="image/png")] * (number == 2)
    yield Message(role="user", content=turn.asked, images=picture or None)
    if turn.calls:
        calls = [{"id": c.id, "type": "function", "function": {"name": c.name, "arguments": json.dumps(c.arguments)}} for c in turn.calls]
        yield Message(role="assistant", content=turn.said or None, reasoning_content=turn.thought or None, tool_calls=calls)
        for c in turn.calls:
            yield Message(role="tool", content=c.result, tool_call_id=c.id, tool_name=c.name, tool_args=c.arguments, tool_call_error=c.failed)
    yield Message(role="assistant", content=turn.answer)


def build():
    history, runs = [], []
    for number, turn in enumerate(TURNS):
        new = list(exchange(number, turn))
        repeated = [message.model_copy(update={"from_history": True}) for message in history]
        messages = [Message(role="system", content=SYSTEM), *repeated, *new]
        runs.append(RunOutput(run_id=f"r{number}", agent_id="a", session_id="s", content=turn.answer, messages=messages, status=RunStatus.completed))
        history += new
    return AgentSession(session_id="s", agent_id="a", runs=runs)


def made():
    session = build()
    yield "session.json", session.to_dict()
    yield "sessions.jsonl", lines([session.to_dict(), AgentSession(session_id="t", agent_id="a", runs=session.runs[:1]).to_dict()])


def events(message):
    if message.role == "tool":
        return [("result", message.tool_call_id)]
    texts = [message.content] if isinstance(message.content, str) else []
    role = "system" if message.role == "developer" else message.role
    return [(role, text) for text in texts] + [("call", call["id"]) for call in message.tool_calls or []]


def load(path):
    loaded = [AgentSession.from_dict(session) for session in values(path)]
    return [[e for run in session.runs for m in run.messages or [] if not m.from_history for e in events(m)] for session in loaded]


if __name__ == "__main__":
    main(Reader(load, ["agno"], made=made))
