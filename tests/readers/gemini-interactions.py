# /// script
# requires-python = ">=3.10"
# dependencies = ["google-genai==3.4.0"]
# [tool.reader]
# dialects = ["gemini-interactions"]
# quick = true
# ///
"""google-genai: steps of requests and replies pass its models of the Interactions API."""

import warnings

from command_line import main
from google.genai.interactions import Step
from pydantic import TypeAdapter
from reader import Reader
from records import values

STEPS = TypeAdapter(list[Step])


def events(step):
    kind = step.type
    if kind in ("user_input", "model_output"):
        role = "user" if kind == "user_input" else "assistant"
        return [(role, block.text) for block in step.content or [] if block.type == "text"]
    if kind.endswith("_call"):
        return [("call", step.id)]
    return [("result", step.call_id)] if kind.endswith("_result") else []


def modelled(steps):
    """The models of the steps; what the software does not know or cannot read is an unknown step to it, not an error."""
    held = STEPS.validate_python(steps)
    for step in held:
        if type(step).__name__.startswith("Unknown"):
            raise ValueError(f"a step that is unknown to it: {step}")
    return held


def load(path):
    steps = [value["steps"] if "steps" in value else value["input"] for value in values(path)]
    return [[e for s in modelled(one) for e in events(s)] for one in steps]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Reader(load, ["gemini-interactions"], data=["gemini-interactions"]))
