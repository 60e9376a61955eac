# /// script
# requires-python = ">=3.10"
# dependencies = ["opentelemetry-util-genai==1.3b0", "pydantic==2.14.3"]
# [tool.reader]
# dialects = ["otel"]
# quick = true
# ///
"""opentelemetry-util-genai: messages and their parts pass its types, which are those of the conventions. Of spans, only the
input messages are checked."""

from command_line import main
from opentelemetry.util.genai import types
from pydantic import TypeAdapter
from reader import Reader
from records import values

PARTS = {
    "text": types.TextPart,
    "reasoning": types.ReasoningPart,
    "tool_call": types.ToolCallRequestPart,
    "tool_call_response": types.ToolCallResponsePart,
    "blob": types.BlobPart,
    "file": types.FilePart,
    "uri": types.UriPart,
}


def events(message):
    types.InputMessage(role=message["role"], parts=[])
    for part in message["parts"]:
        held = TypeAdapter(PARTS[part["type"]]).validate_python(part)
        if part["type"] == "text":
            yield (message["role"], held.content)
        elif part["type"] == "tool_call":
            yield ("call", held.id)
        elif part["type"] == "tool_call_response":
            yield ("result", held.id)


def lists(path):
    """The lists of messages: of a document, of the lines, or the input of each span."""
    found = values(path)
    if len(found) == 1 and isinstance(found[0], list):
        return found
    if "role" in found[0]:
        return [found]
    spans = [value.get("attributes", value) for value in found]
    return [span["gen_ai.input.messages"] for span in spans]


def load(path):
    return [[e for m in messages for e in events(m)] for messages in lists(path)]


if __name__ == "__main__":
    main(Reader(load, ["otel"]))
