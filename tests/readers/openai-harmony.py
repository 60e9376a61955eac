# /// script
# requires-python = ">=3.10"
# dependencies = ["openai-harmony==0.0.8"]
# [tool.reader]
# dialects = ["harmony"]
# quick = true
# ///
"""openai-harmony loads conversations with `Conversation.from_json`; a call and its result go by the name of the tool."""

import json

from command_line import main
from conversation import SYSTEM, TURNS
from openai_harmony import Author, Conversation, DeveloperContent, Message, Role, SystemContent, ToolDescription
from reader import Reader
from records import lines, transcripts


def build():
    yield Message.from_role_and_content(Role.SYSTEM, SystemContent.new().with_model_identity(SYSTEM).with_conversation_start_date("2026-03-01"))
    tools = [ToolDescription.new(name, "Asks a part of the lighthouse.", {"type": "object"}) for name in ("look", "read_gauge")]
    yield Message.from_role_and_content(Role.DEVELOPER, DeveloperContent.new().with_instructions("Answer in one sentence, in plain words.").with_function_tools(tools))
    for turn in TURNS:
        yield Message.from_role_and_content(Role.USER, turn.asked)
        if turn.thought:
            yield Message.from_role_and_content(Role.ASSISTANT, turn.thought).with_channel("analysis")
        if turn.said:
            yield Message.from_role_and_content(Role.ASSISTANT, turn.said).with_channel("commentary")
        for call in turn.calls:
            asked = Message.from_role_and_content(Role.ASSISTANT, json.dumps(call.arguments)).with_channel("commentary")
            yield asked.with_recipient(f"functions.{call.name}").with_content_type("<|constrain|>json")
            told = Message.from_author_and_content(Author.new(Role.TOOL, f"functions.{call.name}"), call.result)
            yield told.with_channel("commentary").with_recipient("assistant")
        yield Message.from_role_and_content(Role.ASSISTANT, turn.answer).with_channel("final")


def made():
    conversation = Conversation.from_messages(list(build()))
    yield "conversation.json", conversation.to_json()
    yield "pretty.json", json.dumps(conversation.to_dict(), indent=2)
    yield "conversations.jsonl", lines([conversation.to_dict()] * 2)
    yield "messages.jsonl", lines(message.to_dict() for message in conversation)


def events(message):
    role = message.author.role.value
    if role == "tool":
        return [("result", message.author.name)]
    if message.recipient:
        return [("call", message.recipient)]
    if message.channel == "analysis":
        return []
    texts = [getattr(part, "text", None) or getattr(part, "instructions", None) or getattr(part, "model_identity", None) for part in message.content]
    return [("system" if role == "developer" else role, text) for text in texts if text]


def load(path):
    loaded = [Conversation.from_json(json.dumps({"messages": messages})) for messages, _ in transcripts(path)]
    return [[e for m in conversation for e in events(m)] for conversation in loaded]


if __name__ == "__main__":
    main(Reader(load, ["harmony"], made=made))
