# /// script
# requires-python = ">=3.10"
# dependencies = ["google-adk==2.13.0"]
# [tool.reader]
# dialects = ["gemini"]
# quick = true
# ///
"""google-adk: sessions and events of the Agent Development Kit pass its models."""

from google.adk.events import Event
from google.adk.sessions import Session
from pydantic import TypeAdapter
from shared import main, values

EVENTS = TypeAdapter(list[Event])


def held(event):
    for part in (event.content.parts or []) if event.content else []:
        if part.text and not part.thought:
            yield ("user" if event.author == "user" else "assistant", part.text)
        if part.function_call:
            yield ("call", part.function_call.id or part.function_call.name)
        if part.function_response:
            yield ("result", part.function_response.id or part.function_response.name)


def load(path):
    found = values(path)
    if len(found) == 1 and "events" in found[0]:
        return [[e for event in Session.model_validate(found[0]).events for e in held(event)]]
    return [[e for event in EVENTS.validate_python(found) for e in held(event)]]


if __name__ == "__main__":
    main(load, ["gemini"], data=["gemini/adk"], named=r"session|events\.jsonl")
