# /// script
# requires-python = ">=3.10"
# dependencies = ["trl==1.16.0", "transformers==5.23.0", "jinja2==3.1.6", "datasets==5.2.0"]
# [tool.reader]
# dialects = ["openai", "sharegpt"]
# override = ["accelerate; sys_platform == 'none'"]
# ///
"""TRL prepares rows with answers that are compared or labelled: it finds the prompt, and renders it with each answer.

Rows of OpenAI and LLaMA-Factory are first renamed as TRL has them. Each answer must be rendered whole, and a cut of the prompt
must leave it as it was.
"""

import os
import re

os.environ |= {"TRANSFORMERS_VERBOSITY": "error", "HF_HUB_OFFLINE": "1"}

from command_line import main
from judgement import texts
from outcomes import Red, TooSmall
from program import curtail, plain
from reader import Reader
from records import values
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import PreTrainedTokenizerFast
from trl.data_utils import is_conversational, maybe_apply_chat_template, maybe_extract_prompt

TEMPLATE = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% for c in m.tool_calls or [] %}<{{ c.id }}>{% endfor %}[/]\n{% endfor %}"
TOKENIZER = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(WordLevel({"?": 0}, unk_token="?")), chat_template=TEMPLATE)
ROLES = {"human": "user", "gpt": "assistant", "function_call": "assistant", "observation": "tool"}
ANSWERS = ("chosen", "rejected", "completion")
NAMES = {"conversations": "prompt", "preferred_output": "chosen", "non_preferred_output": "rejected", "chosen_messages": "chosen", "rejected_messages": "rejected"}
CUTS = (["window", "-n", 1], ["limit", "-t", "50%", "--on-overflow", "keep-newest"], ["summarize", "-n", 1], ["filter", "--strip", "reasoning"])


def message(value):
    content = value.get("value", value.get("content"))
    if isinstance(content, list):
        content = "\n".join(block.get("value", block.get("text")) for block in content)
    role = value.get("from") or value["role"]
    calls = {"tool_calls": value["tool_calls"]} if value.get("tool_calls") else {}
    result = {"tool_call_id": value["tool_call_id"]} if value.get("tool_call_id") else {}
    return {"role": ROLES.get(role, role), "content": content or "", **calls, **result}


def row(record):
    """A record with TRL's names, and with the prompt apart from the answers."""
    found = {}
    for key, value in {**record, "prompt": record.get("prompt") or record.get("input", {}).get("messages")}.items():
        key = NAMES.get(key, key)
        if value is not None and key in ("prompt", *ANSWERS):
            found[key] = [message(m) for m in (value if isinstance(value, list) else [value])]
    if not found or not is_conversational(found):
        raise ValueError("not conversational")
    return maybe_extract_prompt(found)


def rows(path):
    found = values(path)
    return [row(record) for record in (found[0] if isinstance(found[0], list) else found)] if found else []


def rendered(messages):
    return TOKENIZER.apply_chat_template(messages, tokenize=False) if messages else ""


def events(row):
    """What stands in the prompt; a call whose result is in an answer belongs to that."""
    answered = {call_id for key in ANSWERS for m in row.get(key, []) if (call_id := m.get("tool_call_id"))}
    for m in row["prompt"]:
        yield from [("system" if m["role"] == "developer" else m["role"], text) for text in texts(m["content"]) if text]
        yield from [("call", call["id"]) for call in m.get("tool_calls", []) if call["id"] not in answered]


def load(path):
    found = []
    for ready in rows(path):
        if [m["role"] for m in ready["prompt"]] == ["system"]:  # what a window of one item leaves, and TRL does not render
            found.append(list(events(ready)))
            continue
        text = maybe_apply_chat_template(ready, TOKENIZER)
        for key in (key for key in ANSWERS if key in ready):
            if not any(m["content"] for m in ready[key]):
                raise Red(f"nothing is left of {key}")
            if plain(text["prompt"] + text[key]) != plain(rendered(ready["prompt"] + ready[key])):
                raise Red(f"the template lost a part of {key}")
        found.append(list(events(ready)))
    return found


def answers(path, folder, spoil=lambda answers: answers):
    """Cuts of the prompt leave each answer of each row as it was."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = [[ready.get(key) for key in ANSWERS] for ready in rows(path)]
    for number, arguments in enumerate(CUTS):
        made = folder / f"{number}-{path.name}"
        try:
            made.write_bytes(curtail(*arguments, path))
        except TooSmall:
            continue
        left = spoil([[ready.get(key) for key in ANSWERS] for ready in rows(made)])
        if left != whole:
            raise Red(f"{' '.join(map(str, arguments))}: {len(left)} rows with answers for {len(whole)}, or others")


def lose_answer(whole, outline):
    """The rejected answer of the first row is empty."""
    damaged = re.sub(rb'("rejected"):\s*(\[.*?\}\]|\{.*?\})', rb"\1: []", whole, count=1)
    return damaged if damaged != whole else None


BLIND = dict.fromkeys(["drop_result", "call_after_result"], "no call in a prompt has its result there")

if __name__ == "__main__":
    main(
        Reader(
            load,
            ["openai", "sharegpt"],
            data=["preferences"],
            named=r"^preferences|dpo",
            damages=[lose_answer],
            blind=BLIND,
            also=answers,
        )
    )
