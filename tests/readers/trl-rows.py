# /// script
# requires-python = ">=3.10"
# dependencies = ["trl==1.16.0", "transformers==5.23.0", "jinja2==3.1.6", "datasets==5.2.0"]
# [tool.reader]
# dialects = ["sharegpt", "openai"]
# override = ["accelerate; sys_platform == 'none'"]
# ///
"""TRL prepares rows as its trainers do: made ChatML, found to be conversational, and rendered by a tokenizer's template.

Its trainers need torch, which is left out; the functions that prepare rows do without. Rows of OpenAI are given with their
calls in the text, so that a mask selects these as well.
"""

import json
import os
from itertools import groupby

os.environ |= {"TRANSFORMERS_VERBOSITY": "error", "HF_HUB_OFFLINE": "1"}

from datasets import Dataset
from datasets.utils.logging import disable_progress_bar
from shared import Red, curtail, main, plain, texts, totals, transcripts
from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE, WordLevel
from transformers import PreTrainedTokenizerFast
from trl.data_utils import apply_chat_template, is_conversational, is_conversational_from_value, maybe_convert_to_chatml

TEMPLATE = "{% for m in messages %}[{{ m.role }}]{{ m.content }}[/]\n{% endfor %}"
TOKENIZER = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(WordLevel({"?": 0}, unk_token="?")), chat_template=TEMPLATE)
# Every byte is a token, so a mask of tokens says exactly which text is trained on.
BYTES = Tokenizer(BPE({letter: at for at, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}, []))
BYTES.pre_tokenizer, BYTES.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
BYTES = PreTrainedTokenizerFast(tokenizer_object=BYTES)
MASKED = """{% for m in messages %}[{{ m.role }}]{% if loop.index0 in targets %}{% generation %}{{ m.content }}{% endgeneration %}
{% else %}{{ m.content }}{% endif %}[/]
{% endfor %}"""
ANSWERS = ("assistant", "gpt", "function_call")
ROLES = {"human": "user", "gpt": "assistant", "function_call": "call", "observation": "result", "tool": "result", "function": "result", "developer": "system"}
SKIP = {
    "alpaca.jsonl": "pairs of questions and answers, which TRL does not join to messages",
    "zh-history.jsonl": "pairs of questions and answers, which TRL does not join to messages",
    "preferences.jsonl": "a prompt with two answers, see trl-preferences",
    "labels.jsonl": "a prompt with an answer and its label, which a trainer judges apart",
    "bfcl.jsonl": "lists of turns, which TRL does not join to messages",
    "verifiers.jsonl": "prompts and completions, which TRL renders apart",
    "reasoning.jsonl": "contains a refusal, which is no text to train on",
    "blocks.json": "contents that are blocks",
}


def row(message):
    """A message with the names of ShareGPT; beside these, what it says and how many calls it makes."""
    content = message.get("value", message.get("content")) or ""
    blocks = [block["text"] for block in content if block.get("type") == "text"] if isinstance(content, list) else texts(content)
    calls = message.get("tool_calls") or ([message["function_call"]] if message.get("function_call") else [])
    said = "\n".join(blocks) if isinstance(content, list) else content
    whole = said + "".join(json.dumps(call, ensure_ascii=False) for call in calls)
    return {"from": message.get("from") or message["role"], "value": whole, "texts": blocks, "calls": len(calls)}


def events(message):
    role = ROLES.get(message["role"], message["role"])
    if role in ("call", "result"):
        return [(role, "tool")]
    return [(role, text) for text in message["texts"]] + [("call", "tool")] * message["calls"]


def once(held):
    """Parallel calls and their results are one event each: rows of ShareGPT have no ids."""
    held = [(kind, "tool") if kind in ("call", "result") else (kind, text) for kind, text in held]
    return [event for nth, event in enumerate(held) if event[1] != "tool" or held[nth - 1 : nth] != [event]]


def chatml(path):
    """The messages of each row as TRL renames them."""
    rows = [{"conversations": [row(m) for m in messages]} for messages, _ in transcripts(path) if messages]
    if not all(map(is_conversational_from_value, rows)):
        raise ValueError("not conversational in ShareGPT's manner")
    return [ready["messages"] for ready in Dataset.from_list(rows).map(maybe_convert_to_chatml)] if rows else []


def load(path):
    found = []
    for messages in chatml(path):
        if not is_conversational({"messages": messages}):
            raise ValueError("not conversational")
        rendered = apply_chat_template({"messages": messages}, TOKENIZER)["text"]
        whole = "".join(f"[{m['role']}]{m['content']}[/]\n" for m in messages)
        if plain(rendered) != plain(whole):
            raise Red("the template lost a message")
        found.append(once([e for m in messages for e in events(m)]))
    return found


def trained(messages, targets):
    """The texts that a mask of the assistant's tokens selects, if these messages are the targets."""
    whole = BYTES.apply_chat_template(messages, chat_template=MASKED, targets=targets, return_dict=True, return_assistant_tokens_mask=True)
    runs = groupby(zip(whole["input_ids"], whole["assistant_masks"]), key=lambda both: both[1])
    return [BYTES.decode([token for token, _ in run]) for mask, run in runs if mask]


def answers(messages):
    """Places of the messages of the assistant, as `assistant_only_loss` would train on them."""
    return [at for at, message in enumerate(messages) if message["role"] in ANSWERS]


def masks(path, folder, spoil=lambda targets: targets):
    """Over all rows that `split` writes, the masks of `train_on` select each answer of the file once, and nothing else."""
    folder.mkdir(parents=True, exist_ok=True)
    found, path = transcripts(path), folder / f"rows-{path.stem}.jsonl"
    path.write_text("".join(json.dumps(record if isinstance(record, dict) else {"messages": m}) + "\n" for m, record in found))
    tokens = sum(total["tokens"] for total in totals(path))
    for share in (1, 2, 3):
        rows = folder / f"{share}-{path.name}"
        rows.write_bytes(curtail("split", "-t", tokens // share + 1, "--overlap", "1segment", "--mark", "train_on", "--on-overflow", "keep", path))
        found = []
        for ready, (_, record) in zip(chatml(rows), transcripts(rows)):
            targets = spoil(record["train_on"])
            if not set(targets) <= set(answers(ready)):
                raise Red(f"targets {targets}, but the answers are {answers(ready)}")
            if trained(ready, targets) != [ready[at]["content"] for at in targets if ready[at]["content"]]:
                raise Red(f"the mask of {targets} selects other texts")
            found += trained(ready, targets)
        whole = [text for ready in chatml(path) for text in trained(ready, answers(ready))]
        if found != whole:
            raise Red(f"{len(found)} answers of rows are trained on, {len(whole)} of the file")


if __name__ == "__main__":
    disable_progress_bar()
    main(load, ["sharegpt", "openai"], data=["sharegpt"], adapt=once, skip=SKIP, also=masks, planted=["sharegpt"])
