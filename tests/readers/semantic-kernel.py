# /// script
# requires-python = ">=3.10"
# dependencies = ["semantic-kernel==1.45.0"]
# [tool.reader]
# dialects = ["semantic-kernel"]
# quick = true
# ///
"""semantic-kernel restores a history with `ChatHistory.restore_chat_history`, and makes requests of its messages."""

import json
import logging

from command_line import main
from conversation import PICTURE, SYSTEM, TURNS
from outcomes import Red
from reader import Reader
from records import lines, transcripts
from semantic_kernel.contents import ChatHistory, FunctionCallContent, FunctionResultContent, ImageContent, ReasoningContent, TextContent


def build():
    history = ChatHistory(system_message=SYSTEM)
    for number, turn in enumerate(TURNS):
        picture = [ImageContent(data=PICTURE, data_format="base64", mime_type="image/png")] * (number == 2)
        history.add_user_message([TextContent(text=turn.asked), *picture] if picture else turn.asked)
        if turn.calls:
            said = [ReasoningContent(text=turn.thought)] * bool(turn.thought) + [TextContent(text=turn.said)] * bool(turn.said)
            calls = [FunctionCallContent(id=c.id, plugin_name="house", function_name=c.name, arguments=json.dumps(c.arguments)) for c in turn.calls]
            history.add_assistant_message(said + calls)
            for call, asked in zip(turn.calls, calls):
                result = {"said": call.result} if number == 3 else call.result
                history.add_message(FunctionResultContent.from_function_call_content_and_result(asked, result).to_chat_message_content())
        history.add_assistant_message(turn.answer)
    return history


def made():
    history = build()
    yield "history.json", history.serialize()
    yield "dump.json", history.model_dump_json()
    yield "lines.jsonl", lines([message.model_dump(mode="json", exclude_none=True) for message in history.messages])


def events(message):
    for item in message.items:
        if isinstance(item, TextContent):
            yield ("system" if message.role.value == "developer" else message.role.value, item.text)
        elif isinstance(item, FunctionCallContent):
            yield ("call", item.id)
        elif isinstance(item, FunctionResultContent):
            yield ("result", item.id)


def asked(messages):
    """The ids of calls and of results in a request."""
    for message in (m.to_dict() for m in messages):
        yield from (call["id"] for call in message.get("tool_calls", []))
        if "tool_call_id" in message:
            yield message["tool_call_id"]


def load(path):
    found = []
    for messages, _ in transcripts(path, "messages"):
        history = ChatHistory.restore_chat_history(json.dumps({"messages": messages}))
        held = [e for m in history.messages for e in events(m)]
        if sorted(asked(history.messages)) != sorted(name for kind, name in held if kind in ("call", "result")):
            raise Red(f"loaded {held}, asked {list(asked(history.messages))}")
        found.append(held)
    return found


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    main(Reader(load, ["semantic-kernel"], made=made))
