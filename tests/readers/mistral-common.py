# /// script
# requires-python = ">=3.10"
# dependencies = ["mistral-common==1.13.1"]
# [tool.reader]
# dialects = ["openai"]
# quick = true
# ///
"""mistral-common: messages pass its models and its validator, which is strict about the order of calls and results.

Its other demands are not those of a transcript: that ids have nine letters (the API shortens them), that something is left to
answer, and that calls of the model's last message are answered.
"""

from command_line import main
from mistral_common.protocol.instruct.converters import convert_openai_messages
from mistral_common.protocol.instruct.validator import MistralRequestValidator, ValidationMode
from reader import Reader
from records import transcripts

# Those of OpenAI's shape alone: the others have roles and members of their own.
NAMED = r"^(gemini|in-flight|minimal|parallel|pending|tau-bench-airline)"
# Rules whose violation the models or the validator see.
KNOWS = {"detached-result", "duplicate-result", "misplaced-media", "missing-id", "missing-role", "orphan-result", "result-before-call", "unanswered-call", "unknown-role", "unread-content", "value-shape"}
VALIDATOR = MistralRequestValidator(ValidationMode.test)


def events(message):
    if message.role == "tool":
        return [("result", message.tool_call_id)]
    blocks = [message.content] if isinstance(message.content, str) else message.content or []
    texts = [(str(getattr(message.role, "value", message.role)), block if isinstance(block, str) else block.text) for block in blocks if isinstance(block, str) or block.type == "text"]
    return texts + [("call", call.id) for call in getattr(message, "tool_calls", None) or []]


def load(path):
    found = []
    for messages, _ in transcripts(path):
        held = convert_openai_messages(messages)
        VALIDATOR._validate_message_order(held)
        VALIDATOR._validate_tool_calls_followed_by_tool_messages(held)
        found.append([e for m in held for e in events(m)])
    return found


if __name__ == "__main__":
    main(Reader(load, ["openai"], data=["openai"], named=NAMED, knows=KNOWS))
