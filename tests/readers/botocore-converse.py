# /// script
# requires-python = ">=3.10"
# dependencies = ["botocore==1.44.5"]
# [tool.reader]
# dialects = ["bedrock"]
# quick = true
# ///
"""botocore: messages pass its validator for `Converse`."""

import base64

import botocore.session
from botocore.validate import ParamValidator
from command_line import main
from reader import Reader
from records import transcripts

SHAPE = botocore.session.get_session().get_service_model("bedrock-runtime").operation_model("Converse").input_shape


# Rules whose violation the model of the service sees; the others are demands of the API.
KNOWS = {"call-without-id", "unknown-block", "unknown-member-of-a-message", "empty-name", "text-result"}
EXAMPLES = {
    "call-without-id": ("bedrock", [{"role": "assistant", "content": [{"toolUse": {"name": "weather", "input": {}}}]}]),
    "unknown-block": ("bedrock", [{"role": "user", "content": [{"text": "Rain?"}, {"image_url": {"url": "x"}}]}]),
    "unknown-member-of-a-message": ("bedrock", [{"role": "user", "content": [{"text": "Rain?"}], "name": "Ada"}]),
    "empty-name": ("bedrock", [{"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "", "input": {}}}]}]),
    "text-result": ("bedrock", [{"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": "rain"}}]}]),
    "blank-text": ("bedrock", [{"role": "user", "content": [{"text": " "}]}]),
}


def with_bytes(value):
    """JSON holds as base64 what the parameters hold as bytes."""
    if isinstance(value, dict):
        return {k: base64.b64decode(v) if k in ("bytes", "redactedContent") else with_bytes(v) for k, v in value.items()}
    return [with_bytes(v) for v in value] if isinstance(value, list) else value


def events(message):
    for block in message["content"]:
        if "text" in block:
            yield (message["role"], block["text"])
        if "toolUse" in block:
            yield ("call", block["toolUse"]["toolUseId"])
        if "toolResult" in block:
            yield ("result", block["toolResult"]["toolUseId"])


def load(path):
    found = []
    for messages, record in transcripts(path):
        system = record.get("system", []) if isinstance(record, dict) else []
        request = with_bytes({"modelId": "m", "messages": messages, "system": system})
        report = ParamValidator().validate(request, SHAPE)
        if report.has_errors():
            raise ValueError(report.generate_report())
        found.append([e for m in messages for e in events(m)])
    return found


if __name__ == "__main__":
    main(Reader(load, ["bedrock"], knows=KNOWS, examples=EXAMPLES))
