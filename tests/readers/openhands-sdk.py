# /// script
# requires-python = ">=3.12"
# dependencies = ["openhands-sdk==1.58.0"]
# [tool.reader]
# dialects = ["openhands"]
# ///
"""openhands-sdk: events pass its models, and become the messages that it would send."""

import os

os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "OPENHANDS_SUPPRESS_BANNER": "1"}

from openhands.sdk.event import Event, LLMConvertibleEvent
from pydantic import TypeAdapter
from shared import main, values

EVENTS = TypeAdapter(Event)


def events(message):
    if message.role == "tool":
        return [("result", message.tool_call_id)]
    texts = [(message.role, part.text) for part in message.content if part.type == "text"]
    return texts + [("call", call.id) for call in message.tool_calls or []]


def load(path):
    held = [EVENTS.validate_python(value) for value in values(path)]
    sent = LLMConvertibleEvent.events_to_messages([e for e in held if isinstance(e, LLMConvertibleEvent)])
    return [[e for m in sent for e in events(m)]]


if __name__ == "__main__":
    main(load, ["openhands"], data=["openhands"])
