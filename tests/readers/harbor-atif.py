# /// script
# requires-python = ">=3.12"
# dependencies = ["harbor==0.24.0"]
# [tool.reader]
# dialects = ["atif"]
# ///
"""harbor: trajectories pass its models of ATIF."""

import re

from command_line import main
from harbor.models.trajectories import Trajectory
from reader import Reader
from records import values

SKIP = {
    "embedded.json": "a sub-agent without the id that Harbor demands",
    "loose.jsonl": "spellings of other programs",
    "observations.jsonl": "spellings of other programs",
}
ROLES = {"agent": "assistant"}


def events(step):
    texts = [step.message] if isinstance(step.message, str) else [part.text for part in step.message if part.type == "text"]
    for text in texts:
        yield (ROLES.get(step.source, step.source), text or "")
    for call in step.tool_calls or []:
        yield ("call", call.tool_call_id)
    for result in step.observation.results if step.observation else []:
        yield ("result", result.source_call_id)


def load(path):
    return [[e for s in Trajectory.model_validate(v).steps for e in events(s)] for v in values(path)]


def drop_result_of_step(whole, outline):
    """The first result of a step is lost."""
    found = re.search(rb'"results":\s*\[\s*(\{[^{}]*\}),?', whole)
    return whole[: found.start(1)] + whole[found.end() :] if found else None


BLIND = {
    "drop_result": "a call and its result are one step; see drop_result_of_step",
    "call_after_result": "a call and its result are one step, without an order",
}


if __name__ == "__main__":
    main(Reader(load, ["atif"], damages=[drop_result_of_step], skip=SKIP, blind=BLIND))
