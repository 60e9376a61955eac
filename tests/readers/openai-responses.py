# /// script
# requires-python = ">=3.10"
# dependencies = ["openai==3.54.0"]
# [tool.reader]
# dialects = ["responses"]
# quick = true
# ///
"""openai: items are validated as its typed parameters of the Responses API."""

from command_line import main
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter
from reader import Reader
from records import transcripts, validated

SKIP = {
    "program.jsonl": "items of programs and other agents, which the types do not have",
    "openai__responses__openai-mcp-tool-approval.1.jsonl": "an approval has no output",
    "openai__responses__openai-mcp-tool-approval.3.jsonl": "an approval has no output",
}
# Rules whose violation the types see; the others are demands of the API.
KNOWS = {"null-output", "call-without-arguments"}
EXAMPLES = {
    "null-output": ("responses", [{"type": "function_call_output", "call_id": "call_1", "output": None}]),
    "call-without-arguments": ("responses", [{"type": "function_call", "call_id": "call_1", "name": "weather"}]),
}
ITEMS = TypeAdapter(list[ResponseInputItemParam])


def complete(item):
    """An answer with what the types demand and the API does without."""
    if item.get("type") == "message" and item["role"] == "assistant" and isinstance(item["content"], list):
        content = [{"annotations": [], **block} if block["type"] == "output_text" else block for block in item["content"]]
        return {"id": "msg_1", "status": "completed", **item, "content": content}
    return {"id": "rs_1", "summary": [], **item} if item.get("type") == "reasoning" else item


def events(item):
    kind = item.get("type", "message")
    if kind == "message":
        role = "system" if item["role"] == "developer" else item["role"]
        content = item["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
        return [(role, block.get("text", block.get("refusal", ""))) for block in blocks]
    if kind == "mcp_approval_request":
        return [("call", item["id"])]
    if kind == "mcp_approval_response":
        return [("result", item["approval_request_id"])]
    if kind.endswith("_output"):
        return [("result", item["call_id"] or "tool_search_call")]
    if "call_id" in item:
        return [("call", item["call_id"] or "tool_search_call")]
    return [("call", item["id"])] if kind.endswith("_call") else []


def load(path):
    return [[e for i in validated(ITEMS, [complete(i) for i in items]) for e in events(i)] for items, _ in transcripts(path, "input")]


if __name__ == "__main__":
    main(
        Reader(
            load,
            ["responses"],
            adapt=lambda shown: [(kind, text or "tool_search_call") for kind, text in shown],
            data=["responses"],
            skip=SKIP,
            knows=KNOWS,
            examples=EXAMPLES,
        )
    )
