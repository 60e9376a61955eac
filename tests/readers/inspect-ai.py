# /// script
# requires-python = ">=3.10"
# dependencies = ["inspect-ai==0.3.285"]
# [tool.reader]
# dialects = ["inspect"]
# quick = true
# ///
"""inspect-ai reads evaluation logs with `read_eval_log`, and samples and messages with its models."""

import json
import tempfile

from command_line import main
from inspect_ai.log import EvalSample, read_eval_log
from inspect_ai.model import ChatMessage
from pydantic import TypeAdapter
from reader import Reader
from records import values

MESSAGES = TypeAdapter(list[ChatMessage])


def events(messages):
    for message in messages:
        if message.role == "tool":
            yield ("result", message.tool_call_id)
            continue
        blocks = [message.content] if isinstance(message.content, str) else message.content
        for block in blocks:
            if isinstance(block, str) or block.type == "text":
                yield (message.role, block if isinstance(block, str) else block.text)
            elif block.type == "tool_use":
                yield ("call", block.id)
                yield ("result", block.id)
        for call in (message.tool_calls or []) if message.role == "assistant" else []:
            yield ("call", call.id)


def load(path):
    found = values(path)
    if len(found) == 1 and "samples" in found[0]:
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(found[0], file)
            file.flush()
            return [list(events(sample.messages)) for sample in read_eval_log(file.name).samples or []]
    if "messages" in found[0]:
        return [list(events(EvalSample.model_validate(sample).messages)) for sample in found]
    return [list(events(MESSAGES.validate_python(found)))]


if __name__ == "__main__":
    main(Reader(load, ["inspect"], data=["inspect"]))
