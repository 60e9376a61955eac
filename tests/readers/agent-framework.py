# /// script
# requires-python = ">=3.10"
# dependencies = ["agent-framework-core==1.23.0"]
# [tool.reader]
# dialects = ["agent-framework"]
# quick = true
# ///
"""agent-framework-core loads messages with `Message.from_dict`, and sessions with `AgentSession.from_dict`."""

import warnings

from agent_framework import AgentSession, Content, Message
from command_line import main
from conversation import PICTURE, SYSTEM, TURNS
from reader import Reader
from records import lines, transcripts, values

warnings.simplefilter("ignore")


def build():
    yield Message("system", [SYSTEM])
    for number, turn in enumerate(TURNS):
        picture = [Content.from_uri(f"data:image/png;base64,{PICTURE}", media_type="image/png")] * (number == 2)
        yield Message("user", [turn.asked, *picture], author_name="ada")
        if turn.calls:
            said = [Content.from_text_reasoning(text=turn.thought)] * bool(turn.thought) + [turn.said] * bool(turn.said)
            yield Message("assistant", said + [Content.from_function_call(c.id, c.name, arguments=c.arguments) for c in turn.calls])
            results = [Content.from_function_result(c.id, result=c.result, exception=c.result if c.failed else None) for c in turn.calls]
            if number:
                yield Message("tool", results)
            else:
                yield from (Message("tool", [result]) for result in results)
        yield Message("assistant", [turn.answer], message_id=f"m{number}")


def made():
    messages = list(build())
    yield "list.json", [message.to_dict() for message in messages]
    yield "lines.jsonl", lines([message.to_dict(exclude_none=False) for message in messages])
    session = AgentSession(session_id="s")
    session.state["in_memory"] = {"messages": messages}
    yield "session.json", session.to_dict()


def events(message):
    for part in message.contents:
        if part.type == "text":
            yield ("system" if message.role == "developer" else message.role, part.text)
        elif part.type == "function_call":
            yield ("call", part.call_id)
        elif part.type == "function_result":
            yield ("result", part.call_id)


def load(path):
    found = values(path)
    if isinstance(found[0], dict) and found[0].get("type") == "session":
        lists = [AgentSession.from_dict(session).state["in_memory"]["messages"] for session in found]
    else:
        lists = [[Message.from_dict(m) for m in messages] for messages, _ in transcripts(path, "messages")]
    return [[e for m in messages for e in events(m)] for messages in lists]


if __name__ == "__main__":
    main(Reader(load, ["agent-framework"], made=made))
