# /// script
# requires-python = ">=3.10"
# dependencies = ["trl==1.16.0", "transformers==5.23.0", "jinja2==3.1.6", "datasets==5.2.0"]
# [tool.reader]
# dialects = ["sharegpt"]
# override = ["accelerate; sys_platform == 'none'"]
# quick = true
# ///
"""TRL prepares rows as its trainers do: made ChatML, found to be conversational, and rendered by a tokenizer's template.

Its trainers need torch, which is left out; the functions that prepare rows do without.
"""

import os

os.environ |= {"TRANSFORMERS_VERBOSITY": "error", "HF_HUB_OFFLINE": "1"}

from datasets import Dataset
from datasets.utils.logging import disable_progress_bar
from shared import Red, main, plain, transcripts
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import PreTrainedTokenizerFast
from trl.data_utils import apply_chat_template, is_conversational, is_conversational_from_value, maybe_convert_to_chatml

TEMPLATE = "{% for m in messages %}[{{ m.role }}]{{ m.content }}[/]\n{% endfor %}"
TOKENIZER = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(WordLevel({"?": 0}, unk_token="?")), chat_template=TEMPLATE)
ROLES = {"human": "user", "gpt": "assistant"}
SKIP = {
    "alpaca.jsonl": "pairs of questions and answers, which TRL does not join to messages",
    "zh-history.jsonl": "pairs of questions and answers, which TRL does not join to messages",
    "blocks.json": "contents that are blocks",
}


def row(message):
    return {"from": message.get("from") or message["role"], "value": message.get("value", message.get("content")) or ""}


def events(message):
    role = ROLES.get(message["role"], message["role"])
    if role in ("function_call", "observation"):
        return [("call" if role == "function_call" else "result", "tool")]
    return [(role, message["content"])]


def once(held):
    """Parallel calls and their results are one event each: rows of ShareGPT have no ids."""
    held = [(kind, "tool") if kind in ("call", "result") else (kind, text) for kind, text in held]
    return [event for nth, event in enumerate(held) if event[1] != "tool" or held[nth - 1 : nth] != [event]]


def load(path):
    found = []
    for messages, _ in transcripts(path):
        if not messages:
            continue
        one = Dataset.from_list([{"conversations": [row(m) for m in messages]}])
        if not is_conversational_from_value(one[0]):
            raise ValueError("not conversational in ShareGPT's manner")
        ready = one.map(maybe_convert_to_chatml)[0]
        if not is_conversational({"messages": ready["messages"]}):
            raise ValueError("not conversational")
        rendered = apply_chat_template({"messages": ready["messages"]}, TOKENIZER)["text"]
        whole = "".join(f"[{m['role']}]{m['content']}[/]\n" for m in ready["messages"])
        if plain(rendered) != plain(whole):
            raise Red("the template lost a message")
        found.append(once([e for m in ready["messages"] for e in events(m)]))
    return found


if __name__ == "__main__":
    disable_progress_bar()
    main(load, ["sharegpt"], data=["sharegpt"], adapt=once, skip=SKIP)
