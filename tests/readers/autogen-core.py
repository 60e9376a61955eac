# /// script
# requires-python = ">=3.10"
# dependencies = ["autogen-core==0.7.5", "autogen-agentchat==0.7.5"]
# [tool.reader]
# dialects = ["autogen-core", "autogen-agentchat"]
# quick = true
# ///
"""autogen: a context of a model loads a state, and a result of a task the messages of agents."""

import asyncio
import json

from autogen_agentchat import messages as agents
from autogen_agentchat.base import TaskResult
from autogen_agentchat.state import AssistantAgentState
from autogen_core import FunctionCall, Image
from autogen_core.memory import MemoryContent
from autogen_core.model_context import UnboundedChatCompletionContext
from autogen_core.models import AssistantMessage, FunctionExecutionResult, FunctionExecutionResultMessage, SystemMessage, UserMessage
from command_line import main
from conversation import PICTURE, SYSTEM, TURNS
from reader import Reader
from records import lines, transcripts, values

FACTORY = agents.MessageFactory()
CONTEXT = {"SystemMessage": "system", "UserMessage": "user", "AssistantMessage": "assistant", "FunctionExecutionResultMessage": "tool"}


def calls_and_results(turn):
    calls = [FunctionCall(id=call.id, name=call.name, arguments=json.dumps(call.arguments)) for call in turn.calls]
    return calls, [FunctionExecutionResult(content=c.result, name=c.name, call_id=c.id, is_error=c.failed) for c in turn.calls]


def contexts():
    yield SystemMessage(content=SYSTEM)
    for number, turn in enumerate(TURNS):
        yield UserMessage(content=[turn.asked, Image.from_base64(PICTURE)] if number == 2 else turn.asked, source="user")
        if turn.calls:
            calls, results = calls_and_results(turn)
            yield AssistantMessage(content=calls, thought=turn.thought or turn.said or None, source="keeper")
            yield FunctionExecutionResultMessage(content=results)
        yield AssistantMessage(content=turn.answer, source="keeper")


def threads():
    for number, turn in enumerate(TURNS):
        asked = [turn.asked, Image.from_base64(PICTURE)] if number == 2 else turn.asked
        yield (agents.MultiModalMessage if number == 2 else agents.TextMessage)(content=asked, source="user")
        if turn.calls:
            calls, results = calls_and_results(turn)
            if turn.thought:
                yield agents.ThoughtEvent(content=turn.thought, source="keeper")
            yield agents.ToolCallRequestEvent(content=calls, source="keeper")
            yield agents.ToolCallExecutionEvent(content=results, source="keeper")
            if number == 3:
                yield agents.ToolCallSummaryMessage(content=turn.answer, source="keeper", tool_calls=calls, results=results)
                continue
        yield agents.TextMessage(content=turn.answer, source="keeper")


def made():
    context = UnboundedChatCompletionContext(initial_messages=list(contexts()))
    state = asyncio.run(context.save_state())
    yield "context.json", state
    yield "agent.json", AssistantAgentState(llm_context=state).model_dump_json()
    yield "lines.jsonl", lines(state["messages"])
    yield "task.json", TaskResult(messages=list(threads()), stop_reason="done").model_dump_json()
    yield "thread.jsonl", lines([message.dump() for message in threads()])


def content(role, inner):
    for part in [inner] if isinstance(inner, str) else inner:
        if isinstance(part, str):
            yield (role, part)
        elif isinstance(part, FunctionCall):
            yield ("call", part.id)
        elif isinstance(part, FunctionExecutionResult):
            yield ("result", part.call_id)
        elif isinstance(part, MemoryContent):
            yield ("system", part.content)


def of_context(messages):
    context = UnboundedChatCompletionContext()
    asyncio.run(context.load_state({"messages": messages}))
    return [e for message in asyncio.run(context.get_messages()) for e in content(CONTEXT[message.type], message.content)]


def of_thread(messages):
    loaded = [FACTORY.create(message) for message in messages]
    loaded = TaskResult(messages=loaded).messages
    spoken = [m for m in loaded if not isinstance(m, (agents.ThoughtEvent, agents.UserInputRequestedEvent))]
    return [e for m in spoken for e in content("user" if m.source == "user" else "assistant", m.content)]


def load(path):
    found = values(path)
    if isinstance(found[0], dict) and "llm_context" in found[0]:
        lists = [AssistantAgentState.model_validate(state).llm_context["messages"] for state in found]
    else:
        lists = [messages for messages, _ in transcripts(path, "messages")]
    return [(of_context if messages[0]["type"] in CONTEXT else of_thread)(messages) for messages in lists]


if __name__ == "__main__":
    main(Reader(load, ["autogen-core", "autogen-agentchat"], made=made))
