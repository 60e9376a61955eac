# /// script
# requires-python = ">=3.10"
# dependencies = ["anthropic==2.12.0"]
# [tool.reader]
# dialects = ["anthropic"]
# quick = true
# ///
"""anthropic: messages are validated as its typed parameters, of the beta API as well."""

from anthropic.types import MessageParam
from anthropic.types.beta import BetaMessageParam
from command_line import main
from pydantic import TypeAdapter
from reader import Reader
from records import transcripts, validated

MESSAGES = TypeAdapter(list[MessageParam | BetaMessageParam])


def events(message):
    content = message["content"]
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        if block["type"] == "text":
            yield (message["role"], block["text"])
        elif block["type"].endswith("tool_use"):
            yield ("call", block["id"])
        elif block["type"].endswith("tool_result"):
            yield ("result", block["tool_use_id"])


# Rules whose violation the types see; the others are demands of the API.
KNOWS = {"signature-lost", "unread-content", "content-object", "call-without-input"}
EXAMPLES = {
    "content-object": ("anthropic", [{"role": "user", "content": {"text": "Rain?"}}]),
    "call-without-input": ("anthropic", [{"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "weather"}]}]),
}


def load(path):
    return [[e for m in validated(MESSAGES, messages) for e in events(m)] for messages, _ in transcripts(path)]


if __name__ == "__main__":
    main(Reader(load, ["anthropic"], data=["anthropic"], knows=KNOWS, examples=EXAMPLES))
