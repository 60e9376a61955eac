# /// script
# requires-python = ">=3.10"
# dependencies = ["smolagents==1.26.0"]
# [tool.reader]
# dialects = ["smolagents", "smolagents-chat"]
# quick = true
# ///
"""smolagents makes messages of steps, and takes messages with `ChatMessage.from_dict` to send them on."""

import re

from command_line import main
from conversation import SYSTEM, TURNS
from reader import Reader
from records import lines, transcripts
from smolagents.memory import ActionStep, AgentMemory, PlanningStep, SystemPromptStep, TaskStep, ToolCall
from smolagents.models import ChatMessage, MessageRole, get_clean_message_list
from smolagents.monitoring import AgentLogger, Timing, TokenUsage
from smolagents.utils import AgentToolExecutionError

LOGGER = AgentLogger(level=-1)
KINDS = {"system_prompt": SystemPromptStep, "task": TaskStep, "plan": PlanningStep}
GO_ON = "Now proceed and carry out this plan."


def build():
    memory, number = AgentMemory(SYSTEM), 0
    for turn in TURNS:
        memory.steps.append(TaskStep(turn.asked))
        asked = [m for step in [memory.system_prompt, *memory.steps] for m in step.to_messages()]
        if turn.thought:
            plan = ChatMessage(MessageRole.ASSISTANT, [{"type": "text", "text": turn.thought}])
            memory.steps.append(PlanningStep(asked, plan, turn.thought, Timing(1.0, 2.0), TokenUsage(10, 5)))
        if turn.calls:
            number += 1
            failed = any(call.failed for call in turn.calls)
            memory.steps.append(
                ActionStep(
                    number,
                    Timing(1.0, 2.0),
                    asked,
                    [ToolCall(call.name, call.arguments, call.id) for call in turn.calls],
                    AgentToolExecutionError(turn.calls[0].result, LOGGER) if failed else None,
                    ChatMessage(MessageRole.ASSISTANT, turn.said),
                    turn.said or None,
                    observations=None if failed else "\n".join(call.result for call in turn.calls),
                )
            )
        number += 1
        memory.steps.append(ActionStep(number, Timing(1.0, 2.0), asked, model_output=turn.answer, is_final_answer=True))
    return memory


def made():
    memory = build()
    yield "full.json", memory.get_full_steps()
    yield "steps.json", [memory.system_prompt.dict(), *memory.get_succinct_steps()]
    yield "steps.jsonl", lines(memory.get_succinct_steps())
    chat = [message.dict() for step in [memory.system_prompt, *memory.steps] for message in step.to_messages()]
    yield "chat.json", chat
    yield "chat.jsonl", lines(chat)


def constructed(step):
    """A step of the package, of what `dict` wrote."""
    kind = next((kind for key, kind in KINDS.items() if key in step), ActionStep)
    step = {"model_input_messages": [], "model_output_message": None, "timing": None} | step if kind is PlanningStep else dict(step)
    if kind is ActionStep:
        calls = step.get("tool_calls") or None
        step["tool_calls"] = calls and [ToolCall(c["function"]["name"], c["function"]["arguments"], c["id"]) for c in calls]
        step["error"] = step.get("error") and AgentToolExecutionError(step["error"]["message"], LOGGER)
    return kind(**step)


def of_step(step):
    """What a step is sent as: a text, its calls, what came of them all, and what went wrong."""
    waiting = getattr(step, "tool_calls", None) or []
    for message in step.to_messages():
        text = message.content[0]["text"]
        if message.role == MessageRole.TOOL_CALL:
            yield from (("call", call.id) for call in step.tool_calls)
        elif message.role == MessageRole.TOOL_RESPONSE and not step.tool_calls:
            yield ("assistant", step.error.message)
        elif message.role == MessageRole.TOOL_RESPONSE:
            yield from (("result", call.id) for call in waiting)
            waiting = []
        elif text != GO_ON:
            yield (message.role.value, text.removeprefix("New task:\n"))


def of_chat(message):
    kind = {"tool-call": "call", "tool-response": "result"}.get(message["role"])
    for part in message["content"]:
        yield (kind, "tools") if kind else (message["role"], part["text"])


def load(path):
    found = []
    for items, _ in transcripts(path):
        if "role" in items[0]:
            sent = [m for item in items for m in get_clean_message_list([ChatMessage.from_dict(item)])]
            found.append([e for message in sent for e in of_chat(message)])
        else:
            found.append([e for item in items for e in of_step(constructed(item))])
    return found


ONE = "a step holds its calls and what came of them"


def unanswered(whole, outline):
    """What came of the first call is lost, or said by the user."""
    damaged = re.sub(rb'"observations": "[^"]*"', b'"observations": null', whole, count=1)
    damaged = damaged.replace(b'"tool-response"', b'"user"', 1) if damaged == whole else damaged
    return damaged if damaged != whole else None


if __name__ == "__main__":
    main(
        Reader(
            load,
            ["smolagents", "smolagents-chat"],
            made=made,
            damages=[unanswered],
            blind={"drop_result": ONE, "call_after_result": ONE},
        )
    )
