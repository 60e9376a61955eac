# /// script
# requires-python = ">=3.10"
# dependencies = ["langchain-core==1.7.2"]
# [tool.reader]
# dialects = ["langchain"]
# quick = true
# ///
"""langchain-core loads messages with `messages_from_dict`, `load` and `convert_to_messages`."""

import warnings

from command_line import main
from langchain_core.load import load as construct
from langchain_core.messages import AIMessage, FunctionMessage, ToolMessage, convert_to_messages, messages_from_dict
from reader import Reader
from records import transcripts

warnings.simplefilter("ignore")
ROLES = {"human": "user", "HumanMessageChunk": "user", "ai": "assistant", "AIMessageChunk": "assistant", "system": "system"}


def read(message):
    if message.get("lc"):
        return construct(message, allowed_objects="messages")
    return messages_from_dict([message])[0] if "data" in message else convert_to_messages([message])[0]


def events(message):
    if isinstance(message, (ToolMessage, FunctionMessage)):
        return [("result", message.tool_call_id if isinstance(message, ToolMessage) else message.name)]
    role = ROLES.get(message.type, message.type)
    blocks = [message.content] if isinstance(message.content, str) else message.content
    texts = [block if isinstance(block, str) else block["text"] for block in blocks if isinstance(block, str) or block["type"] == "text"]
    calls = [call["id"] for call in message.tool_calls + message.invalid_tool_calls] if isinstance(message, AIMessage) else []
    calls += [message.additional_kwargs["function_call"]["name"]] if "function_call" in message.additional_kwargs else []
    return [(role, text) for text in texts] + [("call", call) for call in calls]


def load(path):
    return [[e for m in messages for e in events(read(m))] for messages, _ in transcripts(path)]


if __name__ == "__main__":
    main(
        Reader(
            load,
            ["langchain"],
            data=["langchain"],
            skip={"pending.jsonl": "the call is one whose arguments are no JSON; such dumps lose it"},
        )
    )
