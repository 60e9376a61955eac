# /// script
# requires-python = ">=3.10"
# dependencies = ["google-genai==3.4.0"]
# [tool.reader]
# dialects = ["gemini"]
# quick = true
# ///
"""google-genai: contents are validated as its types, as `generate_content` does."""

from command_line import main
from google.genai import types
from reader import Reader
from records import transcripts


# Rules whose violation the types see; the others are demands of the API.
KNOWS = {"unknown-member-of-a-part", "response-as-text", "arguments-as-list"}
EXAMPLES = {
    "unknown-member-of-a-part": ("gemini", [{"role": "user", "parts": [{"type": "text", "text": "Rain?"}]}]),
    "response-as-text": ("gemini", [{"role": "user", "parts": [{"functionResponse": {"name": "weather", "response": "rain"}}]}]),
    "arguments-as-list": ("gemini", [{"role": "model", "parts": [{"functionCall": {"name": "weather", "args": []}}]}]),
}


def events(content):
    for part in content.parts or []:
        if part.text and not part.thought:
            yield ("assistant" if content.role == "model" else "user", part.text)
        if part.function_call:
            yield ("call", part.function_call.id or part.function_call.name)
        if part.function_response:
            yield ("result", part.function_response.id or part.function_response.name)
        if part.executable_code:
            yield ("call", "code_execution")
        if part.code_execution_result:
            yield ("result", "code_execution")


def load(path):
    return [[e for c in contents for e in events(types.Content.model_validate(c))] for contents, _ in transcripts(path)]


if __name__ == "__main__":
    # Sessions of ADK and the CLI are no lists of contents, and have readers of their own.
    main(
        Reader(
            load,
            ["gemini"],
            named=r"^(?!adk-|cli)",
            adapt=lambda shown: [(kind, text or "code_execution") for kind, text in shown],
            knows=KNOWS,
            examples=EXAMPLES,
        )
    )
