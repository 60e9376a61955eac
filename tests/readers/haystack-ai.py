# /// script
# requires-python = ">=3.10"
# dependencies = ["haystack-ai==3.4.1", "pydantic==2.14.3"]
# [tool.reader]
# dialects = ["haystack"]
# quick = true
# ///
"""haystack-ai loads messages with `ChatMessage.from_dict`, which takes what `to_dict` and pydantic write."""

from command_line import main
from conversation import PICTURE, SYSTEM, TURNS
from haystack.components.agents.state import State
from haystack.dataclasses import ChatMessage, ImageContent, TextContent, ToolCall
from pydantic import TypeAdapter
from reader import Reader
from records import lines, transcripts, values

IMAGE = ImageContent(base64_image=PICTURE, mime_type="image/png")


def build():
    yield ChatMessage.from_system(SYSTEM)
    for number, turn in enumerate(TURNS):
        yield ChatMessage.from_user(content_parts=[turn.asked] + [IMAGE] * (number == 2))
        if turn.calls:
            calls = [ToolCall(id=call.id, tool_name=call.name, arguments=call.arguments) for call in turn.calls]
            yield ChatMessage.from_assistant(turn.said or None, {"model": "m"}, tool_calls=calls, reasoning=turn.thought or None)
            for call, origin in zip(turn.calls, calls):
                result = [TextContent(call.result), IMAGE] if number == 3 else call.result
                yield ChatMessage.from_tool(result, origin=origin, error=call.failed)
        yield ChatMessage.from_assistant(turn.answer, name="keeper")


def made():
    messages = list(build())
    dumps = [message.to_dict() for message in messages]
    yield "list.json", dumps
    yield "lines.jsonl", lines(dumps)
    yield "state.json", State({"messages": {"type": list[ChatMessage]}}, {"messages": messages}).to_dict()
    yield "pydantic.json", TypeAdapter(dict[str, list[ChatMessage]]).dump_json({"messages": messages}).decode()


def events(message):
    for result in message.tool_call_results:
        yield ("result", result.origin.id)
    for part in message._content:
        if isinstance(part, TextContent):
            yield (message.role.value, part.text)
        elif isinstance(part, ToolCall):
            yield ("call", part.id)


def load(path):
    found = values(path)
    if isinstance(found[0], dict) and "schema" in found[0]:
        return [[e for m in State.from_dict(state).data["messages"] for e in events(m)] for state in found]
    return [[e for m in messages for e in events(ChatMessage.from_dict(m))] for messages, _ in transcripts(path)]


if __name__ == "__main__":
    main(Reader(load, ["haystack"], made=made))
