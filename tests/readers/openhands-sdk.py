# /// script
# requires-python = ">=3.12"
# dependencies = ["openhands-sdk==1.58.0", "openhands-tools==1.58.0"]
# [tool.reader]
# dialects = ["openhands"]
# ///
"""openhands-sdk: events pass its models, and become the messages that it would send."""

import os

os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "OPENHANDS_SUPPRESS_BANNER": "1"}

import openhands.tools  # noqa: F401 - the kinds of its tools
from command_line import main
from openhands.sdk.context.view import View
from openhands.sdk.event import Event, LLMConvertibleEvent
from pydantic import TypeAdapter
from reader import Reader
from records import values

SKIP = {
    "pending.jsonl": "the software removes a call without a result",
    "parallel.jsonl": "contains an event of a newer version",
    "media.jsonl": "contains an observation of a tool that is not installed",
}
EVENTS = TypeAdapter(Event)


def events(message):
    if message.role == "tool":
        return [("result", message.tool_call_id)]
    texts = [(message.role, part.text) for part in message.content if part.type == "text"]
    return texts + [("call", call.id) for call in message.tool_calls or []]


def complete(value):
    """An observation with what the models demand and our own fixtures leave out."""
    observation = value.get("observation")
    if isinstance(observation, dict) and observation.get("kind") == "TerminalObservation":
        observation.setdefault("command", "")
    return value


def load(path):
    held = View.from_events([EVENTS.validate_python(complete(value)) for value in values(path)]).events
    sent = LLMConvertibleEvent.events_to_messages(held)
    return [[e for m in sent for e in events(m)]]


if __name__ == "__main__":
    main(Reader(load, ["openhands"], data=["openhands"], live=True, skip=SKIP, named=r"^(?!version0)"))
