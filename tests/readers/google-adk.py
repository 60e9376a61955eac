# /// script
# requires-python = ">=3.10"
# dependencies = ["google-adk==2.13.0"]
# [tool.reader]
# dialects = ["gemini"]
# quick = true
# ///
"""google-adk: sessions and events of the Agent Development Kit pass its models; what it makes of them for a model is what
`show --live` lists; and a call that waits for an answer gets one after every cut."""

from pathlib import Path

from command_line import main
from google.adk.events import Event
from google.adk.events._rewind_events import _apply_rewinds
from google.adk.flows.llm_flows.contents import _get_contents
from google.adk.sessions import Session
from google.genai import types
from judgement import same
from outcomes import Red
from program import outlines, plain, shown_events
from pydantic import TypeAdapter
from reader import Reader
from records import values

EVENTS = TypeAdapter(list[Event])
# Calls with which the program asks its client: it sends them to no model.
REQUESTS = {"adk_request_confirmation", "adk_request_credential", "adk_request_input"}


def said(content, role):
    for part in (content.parts or []) if content else []:
        if part.text and not part.thought:
            yield (role, part.text)
        if part.function_call:
            yield ("call", part.function_call.id or part.function_call.name)
        if part.function_response:
            yield ("result", part.function_response.id or part.function_response.name)


def held(event):
    compaction = event.actions.compaction
    if compaction:
        return list(said(compaction.compacted_content, "assistant"))
    return list(said(event.content, "user" if event.author == "user" else "assistant"))


def session(path):
    found = values(path)
    whole = len(found) == 1 and "events" in found[0]
    events = Session.model_validate(found[0]).events if whole else EVENTS.validate_python(found)
    # No session keeps the pieces of a reply.
    return [event for event in events if not event.partial]


def asks(events):
    """The ids of the calls with which the program asks its client."""
    return {call.id for event in events for call in event.get_function_calls() if call.name in REQUESTS}


def waiting(events):
    """The calls whose answer can still come, each with the time of its event."""
    found = {}
    for event in _apply_rewinds(events):
        for call in event.get_function_calls():
            if call.id in (event.long_running_tool_ids or ()) or call.name in REQUESTS:
                found[call.id] = (call.name, event.timestamp, "user")
        for response in event.get_function_responses():
            if response.id in event.actions.requested_tool_confirmations:
                found[response.id] = (response.name, event.timestamp, event.author)
            elif event.author == "user" or found.get(response.id, (0, 0, "user"))[2] != "user":
                found.pop(response.id, None)
    return found


def sent(events, agent):
    """What a model reads of the events, when the user goes on."""
    last = max((event.timestamp for event in events), default=0)
    more = Event(author="user", invocation_id="next", timestamp=last + 2, content=types.Content(role="user", parts=[types.Part(text="Go on.")]))
    contents = _get_contents(None, [*events, more], agent, preserve_function_call_ids=True)
    assert contents[-1].parts[-1].text == "Go on."
    contents[-1].parts.pop()
    return [e for content in contents for e in said(content, "user" if content.role == "user" else "assistant")], contents


def kind_and_text(event):
    """A key to sort events by, to compare them in any order; `show` shortens long texts."""
    return (event[0], plain(event[1])[:20])


def compare(path, events, agent):
    """A model reads what `show --live` lists: of several results the last, and none of what the program asks its client."""
    asked, shown = asks(events), []
    for event in reversed([e for outline in outlines(path, "gemini", live=True) for e in shown_events(outline)]):
        again = event[0] == "result" and event in shown
        if not again and not (event[0] in ("call", "result") and event[1] in asked):
            shown.append(event)
    read = sent(events, agent)[0]
    for one, other in zip(sorted(shown, key=kind_and_text), sorted(read, key=kind_and_text)):
        if not same(one, other):
            raise Red(f"live: shown {one}, sent {other}")
    if len(shown) != len(read):
        raise Red(f"live: {len(shown)} shown, {len(read)} sent")


def answer(path, events, agent):
    """Every call of the uncut file that waits gets its answer, and a model reads it."""
    parts = path.parts
    uncut = next(Path(*parts[: parts.index("out")], "in", parts[parts.index("out") + 1]).iterdir()) if "out" in parts else path
    newest = max((event.timestamp for event in events), default=0)
    for id, (name, time, author) in waiting(session(uncut)).items():
        if time > newest:
            continue
        response = types.Part(function_response=types.FunctionResponse(id=id, name=name, response={"status": "answered"}))
        event = Event(author=author, invocation_id="next", timestamp=newest + 1, content=types.Content(role="user", parts=[response]))
        contents = _get_contents(None, [*events, event], agent, preserve_function_call_ids=True)
        read = [part.function_response for content in contents for part in content.parts if part.function_response]
        called = any(call.id == id for event in events for call in event.get_function_calls())
        if not called or name not in REQUESTS and not any(r.id == id and r.response == {"status": "answered"} for r in read):
            raise Red(f"the answer to {id} finds no call")


def load(path):
    events = session(path)
    agents = {event.author for event in events} - {"user"}
    timed = all("timestamp" in event.model_fields_set for event in events)
    if len(agents) <= 1 and timed:
        compare(path, events, *(agents or {"agent"}))
        answer(path, events, *(agents or {"agent"}))
    return [[e for event in events for e in held(event)]]


if __name__ == "__main__":
    main(
        Reader(
            load,
            ["gemini"],
            data=["gemini/adk"],
            named=r"session|adk-.*\.jsonl|adk-compaction|events\.jsonl",
            skip={"adk-test.jsonl": "is no session"},
        )
    )
