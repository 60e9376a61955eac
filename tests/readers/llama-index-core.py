# /// script
# requires-python = ">=3.10"
# dependencies = ["llama-index-core==0.14.25", "pydantic==2.11.9"]
# [tool.reader]
# dialects = ["llama-index"]
# quick = true
# ///
"""llama-index-core loads messages as `ChatMessage`, and chat stores with `SimpleChatStore`."""

import json

from command_line import main
from conversation import PICTURE, SYSTEM, TURNS
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock, ThinkingBlock, ToolCallBlock
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.storage.chat_store import SimpleChatStore
from reader import Reader
from records import lines, values


def build(blocks=True):
    yield ChatMessage(role="system", content=SYSTEM)
    for number, turn in enumerate(TURNS):
        picture = [ImageBlock(image=PICTURE.encode(), image_mimetype="image/png")] * (number == 2)
        yield ChatMessage(role="user", blocks=[TextBlock(text=turn.asked), *picture])
        if turn.calls:
            said = [ThinkingBlock(content=turn.thought)] * bool(turn.thought) + [TextBlock(text=turn.said)] * bool(turn.said)
            called = [ToolCallBlock(tool_call_id=c.id, tool_name=c.name, tool_kwargs=c.arguments) for c in turn.calls]
            copies = [{"id": c.id, "type": "function", "function": {"name": c.name, "arguments": json.dumps(c.arguments)}} for c in turn.calls]
            kwargs = {"tool_calls": copies} if number == 3 or not blocks else {}
            yield ChatMessage(role="assistant", blocks=said + called * blocks, additional_kwargs=kwargs)
            for call in turn.calls:
                yield ChatMessage(role="tool", content=call.result, additional_kwargs={"tool_call_id": call.id, "name": call.name})
        yield ChatMessage(role="assistant", content=turn.answer)


def made():
    messages = list(build())
    yield "list.json", [message.model_dump(mode="json") for message in messages]
    yield "lines.jsonl", lines([message.model_dump(mode="json") for message in build(blocks=False)])
    store = SimpleChatStore(store={"ada": messages, "ben": list(build(blocks=False))})
    yield "store.json", store.model_dump_json()
    # A memory is not written with pictures.
    plain = [message for message in messages if not any(isinstance(block, ImageBlock) for block in message.blocks)]
    yield "memory.json", ChatMemoryBuffer.from_defaults(chat_history=plain, token_limit=100_000).to_string()


def events(message):
    role, kwargs = message.role.value.replace("developer", "system"), message.additional_kwargs
    if role in ("tool", "function"):
        return [("result", kwargs["tool_call_id"])]
    found, calls = [], []
    for block in message.blocks:
        if isinstance(block, TextBlock):
            found.append((role, block.text))
        elif isinstance(block, ToolCallBlock):
            found.append(("call", block.tool_call_id))
            calls.append(block.tool_call_id)
    copies = [call["id"] for call in kwargs.get("tool_calls") or []]
    if calls and copies and calls != copies:
        raise ValueError(f"calls {calls}, in additional_kwargs {copies}")
    return found + [("call", call) for call in copies if not calls]


def load(path):
    found = values(path)
    if isinstance(found[0], dict) and "chat_store" in found[0]:
        memories = [ChatMemoryBuffer.from_dict(memory) for memory in found]
        return [[e for m in memory.get_all() for e in events(m)] for memory in memories]
    if isinstance(found[0], dict) and "store" in found[0]:
        stores = [SimpleChatStore.from_dict(store) for store in found]
        return [[e for m in messages for e in events(m)] for store in stores for messages in store.store.values()]
    messages = found[0] if isinstance(found[0], list) else found
    return [[e for m in messages for e in events(ChatMessage.model_validate(m))]]


if __name__ == "__main__":
    main(Reader(load, ["llama-index"], made=made))
