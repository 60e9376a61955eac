# /// script
# requires-python = ">=3.10"
# dependencies = ["smolagents==1.26.0", "pillow==12.0.0"]
# [tool.reader]
# dialects = ["smolagents", "smolagents-chat"]
# quick = true
# ///
"""smolagents makes messages of steps, and takes messages with `ChatMessage.from_dict` to send them on."""

import base64
import io
import re

import PIL.Image
from command_line import main
from conversation import PICTURE, SYSTEM, TURNS
from reader import Reader
from records import lines, transcripts
from smolagents.memory import ActionStep, AgentMemory, PlanningStep, SystemPromptStep, TaskStep, ToolCall
from smolagents.models import ChatMessage, MessageRole, get_clean_message_list
from smolagents.monitoring import AgentLogger, Timing, TokenUsage
from smolagents.utils import AgentExecutionError, AgentParsingError, AgentToolExecutionError

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


def failing():
    """Steps that print and then fail, that see something, and that call nothing."""
    seen = PIL.Image.open(io.BytesIO(base64.b64decode(PICTURE)))
    memory = build()
    number, times = len(memory.steps), Timing(1.0, 2.0)

    def step(said, code=None, printed=None, error=None, images=None):
        calls = code and [ToolCall("python_interpreter", code, f"call_{len(memory.steps)}")]
        memory.steps.append(ActionStep(number, times, None, calls, error, None, said, observations=printed, observations_images=images))

    memory.steps.append(TaskStep("How does the horn look from the landing?"))
    step("I look at both.", "print(look('lamp'))\nhorn()", "The lamp turns.", AgentExecutionError("the name horn is not defined", LOGGER))
    step("The horn may be outside.", error=AgentParsingError("no code was found in the answer", LOGGER))
    step("I take a picture.", "take_picture()", "The picture was taken.", images=[seen, seen])
    step("I take one more.", "take_picture(2)\nhorn()", "One more.", AgentExecutionError("the name horn is not defined", LOGGER), [seen])
    step("I only watch.", printed="Fog comes in.", images=[seen])
    step("The horn is red.")
    memory.steps.append(TaskStep("And the door?"))
    step("I run the code.", "door()", error=AgentExecutionError("the door is shut", LOGGER))
    step("The door is shut.")
    return memory


def sent(memory):
    """The messages of a memory, each as a model gets it."""
    messages = [message for step in [memory.system_prompt, *memory.steps] for message in step.to_messages()]
    return [plain for message in messages for plain in get_clean_message_list([message])]


def made():
    memory = build()
    yield "full.json", memory.get_full_steps()
    yield "steps.json", [memory.system_prompt.dict(), *memory.get_succinct_steps()]
    yield "steps.jsonl", lines(memory.get_succinct_steps())
    chat = [message.dict() for step in [memory.system_prompt, *memory.steps] for message in step.to_messages()]
    yield "chat.json", chat
    yield "chat.jsonl", lines(chat)
    yield "failing-steps.json", [without_images(step) for step in failing().get_succinct_steps()]
    yield "failing.json", sent(failing())
    yield "failing.jsonl", lines(sent(failing()))


def without_images(step):
    """A step for JSON, which has no bytes."""
    return step | {"observations_images": None} if step.get("observations_images") else step


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
        if message.content[0]["type"] == "image":
            continue
        text = message.content[0]["text"]
        if message.role == MessageRole.TOOL_CALL:
            yield from (("call", call.id) for call in step.tool_calls)
        elif message.role == MessageRole.TOOL_RESPONSE and not step.tool_calls:
            yield ("assistant", step.observations if text.startswith("Observation:") else step.error.message)
        elif message.role == MessageRole.TOOL_RESPONSE:
            yield from (("result", call.id) for call in waiting)
            waiting = []
        elif text != GO_ON:
            yield (message.role.value, text.removeprefix("New task:\n"))


def of_chat(messages):
    """What is sent of a chat: what a user seems to show right behind a call is what its step saw."""
    before = None
    for message in messages:
        role, said = message["role"], [part.get("text", "") for part in message["content"]]
        shows = role == "user" and before == "tool-call" and all(text == "" or text.startswith("[image: ") for text in said)
        kind = "result" if shows else {"tool-call": "call", "tool-response": "result"}.get(role)
        yield from [(kind, "tools")] if kind else ((role, text) for text in said)
        before = role


def with_images(item):
    """A message of JSON, with pictures in place of their base64."""
    for part in item["content"]:
        if part["type"] == "image":
            part["image"] = PIL.Image.open(io.BytesIO(base64.b64decode(part["image"])))
    return ChatMessage.from_dict(item)


def load(path):
    found = []
    for items, _ in transcripts(path):
        if "role" in items[0]:
            found.append(list(of_chat([m for item in items for m in get_clean_message_list([with_images(item)])])))
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
