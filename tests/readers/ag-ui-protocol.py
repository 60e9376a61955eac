# /// script
# requires-python = ">=3.10"
# dependencies = ["ag-ui-protocol==1.0.0"]
# [tool.reader]
# dialects = ["ag-ui"]
# quick = true
# ///
"""ag-ui-protocol: messages pass its models, those of a run as `RunAgentInput`."""

import json

from ag_ui.core import AssistantMessage, Context, FunctionCall, ImagePart, Message, ReasoningMessage, RunAgentInput, SystemMessage, TextPart, ToolCall, ToolMessage, UserMessage
from ag_ui.core.types import DataSource
from command_line import main
from conversation import PICTURE, SYSTEM, TURNS
from pydantic import TypeAdapter
from reader import Reader
from records import lines, transcripts

MESSAGES = TypeAdapter(list[Message])


def build():
    yield SystemMessage(id="s", content=SYSTEM)
    for number, turn in enumerate(TURNS):
        picture = ImagePart(source=DataSource(value=PICTURE, mime_type="image/png"))
        yield UserMessage(id=f"u{number}", content=[TextPart(text=turn.asked), picture] if number == 2 else turn.asked)
        if turn.calls:
            if turn.thought:
                yield ReasoningMessage(id=f"r{number}", content=turn.thought)
            calls = [ToolCall(id=c.id, function=FunctionCall(name=c.name, arguments=json.dumps(c.arguments))) for c in turn.calls]
            yield AssistantMessage(id=f"c{number}", content=turn.said or None, tool_calls=calls)
            for call in turn.calls:
                error = call.result if call.failed else None
                yield ToolMessage(id=f"t{call.id}", content=call.result, tool_call_id=call.id, error=error)
        yield AssistantMessage(id=f"a{number}", content=turn.answer, name="keeper")


def made():
    messages = list(build())
    context = [Context(description="where the lighthouse stands", value="A rock two miles off the coast, reached at low tide.")]
    run = RunAgentInput(thread_id="t", run_id="r", state={}, messages=messages, tools=[], context=context, forwarded_props={})
    yield "run.json", run.model_dump_json(by_alias=True, exclude_none=True)
    yield "nulls.json", run.model_dump_json(by_alias=True)
    yield "messages.json", MESSAGES.dump_json(messages, by_alias=True, exclude_none=True).decode()
    yield "messages.jsonl", lines(message.model_dump(by_alias=True) for message in messages)
    yield "runs.jsonl", lines([run.model_dump(by_alias=True), run.model_dump(by_alias=True, exclude_none=True)])


def events(message):
    if message.role in ("reasoning", "activity"):
        return []
    if message.role == "tool":
        return [("result", message.tool_call_id)]
    parts = [TextPart(text=message.content)] if isinstance(message.content, str) else message.content or []
    found = [(message.role if message.role != "developer" else "system", part.text) for part in parts if isinstance(part, TextPart)]
    return found + [("call", call.id) for call in getattr(message, "tool_calls", None) or []]


def load(path):
    found = []
    for messages, record in transcripts(path):
        loaded = RunAgentInput.model_validate(record).messages if isinstance(record, dict) else MESSAGES.validate_python(messages)
        found.append([e for m in loaded for e in events(m)])
    return found


if __name__ == "__main__":
    main(Reader(load, ["ag-ui"], made=made))
