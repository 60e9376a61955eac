# /// script
# requires-python = ">=3.10"
# dependencies = ["pydantic-ai-slim==2.68.0"]
# [tool.reader]
# dialects = ["pydantic-ai"]
# quick = true
# ///
"""pydantic-ai: `ModelMessagesTypeAdapter` loads messages, and an agent sends them on as its history.

Of its own it adds the prompt, and frames around what it said about an answer and around a system prompt behind the first
message. A system prompt is a part of a request, which `show` has as a message of the user unless it stands alone. A history
that ends with a call without a result takes no prompt; it is only loaded.
"""

import logging
import re

from command_line import main
from outcomes import Red
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, TextPart
from pydantic_ai.models.function import FunctionModel
from reader import Reader

PROMPT = "Say OK."
FRAMES = re.compile(r"<pyai:retry_feedback>\n(?P<feedback>.*)\n</pyai:retry_feedback>|<system>(?P<system>.*)</system>", re.S)


def adapt(shown):
    return [("user" if kind == "system" else kind, text) for kind, text in shown]


def events(message):
    role = "assistant" if message.kind == "response" else "user"
    for part in message.parts:
        kind = part.part_kind
        if kind in ("tool-call", "builtin-tool-call"):
            yield ("call", part.tool_call_id)
        elif kind in ("tool-return", "builtin-tool-return") or kind == "retry-prompt" and part.tool_name:
            yield ("result", part.tool_call_id)
        elif kind in ("text", "user-prompt", "system-prompt", "retry-prompt", "retry-feedback", "compaction") and part.content:
            for text in [part.content] if isinstance(part.content, str) else part.content:
                if isinstance(text, str):
                    found = FRAMES.search(text)
                    yield (role, found[found.lastgroup] if found else text)


def sent(messages):
    """What an agent with this history sends before its prompt."""
    asked = []

    def answer(history, _):
        asked.append(history)
        return ModelResponse(parts=[TextPart("OK.")])

    Agent(FunctionModel(answer)).run_sync(PROMPT, message_history=messages)
    held = [event for message in asked[0] for event in events(message)]
    if not held or held[-1] != ("user", PROMPT):
        raise Red(f"the prompt is not last: {held[-2:]}")
    return held[:-1]


def load(path):
    messages = ModelMessagesTypeAdapter.validate_json(path.read_bytes())
    held = [event for message in messages for event in events(message)]
    open_call = messages and any(part.part_kind == "tool-call" for part in messages[-1].parts)
    if not open_call and (on := sent(messages)) != held:
        raise Red(f"loaded {held}, sent {on}")
    return [held]


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    main(Reader(load, ["pydantic-ai"], data=["pydantic-ai"], adapt=adapt))
