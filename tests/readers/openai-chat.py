# /// script
# requires-python = ">=3.10"
# dependencies = ["openai==3.54.0"]
# [tool.reader]
# dialects = ["openai"]
# quick = true
# ///
"""openai: messages are validated as its typed parameters of Chat Completions."""

from command_line import main
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter
from reader import Reader
from records import transcripts, validated

SKIP = {"written.jsonl": "calls that stand in a text, which these types take as text"}
# Rules whose violation the types see; the others are demands of the API.
KNOWS = {"misplaced-media", "missing-id", "missing-role", "unknown-role", "unread-content", "value-shape", "argument-object", "null-result"}
EXAMPLES = {
    "argument-object": ("openai", [{"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": {}}}]}]),
    "null-result": ("openai", [{"role": "tool", "tool_call_id": "call_1", "content": None}]),
}
MESSAGES = TypeAdapter(list[ChatCompletionMessageParam])


def events(message):
    role = "system" if message["role"] == "developer" else message["role"]
    content = message.get("content")
    blocks = [{"type": "text", "text": content or ""}] if content is None or isinstance(content, str) else list(content)
    if role in ("tool", "function"):
        return [("result", message.get("tool_call_id") or message.get("name"))]
    found = [(role, block.get("text", block.get("refusal"))) for block in blocks if block["type"] in ("text", "refusal")]
    found += [(role, message["refusal"])] if message.get("refusal") else []
    found += [(role, message["audio"]["transcript"])] if (message.get("audio") or {}).get("transcript") else []
    found += [("call", call["id"]) for call in message.get("tool_calls") or []]
    return found + ([("call", message["function_call"]["name"])] if message.get("function_call") else [])


def load(path):
    return [[e for m in validated(MESSAGES, messages) for e in events(m)] for messages, _ in transcripts(path)]


if __name__ == "__main__":
    main(Reader(load, ["openai"], data=["openai", "openai-legacy"], skip=SKIP, knows=KNOWS, examples=EXAMPLES))
