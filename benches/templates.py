"""Compares counting and cutting by a chat template with transformers, and prints tables of docs/benchmarks.md.

Usage: templates.py CURTAIL MODEL [--budget N] [--rounds N] DATA…

DATA is a file of records with OpenAI's messages, MODEL the folder of a Hugging Face model with `tokenizer.json` and `chat_template.jinja`.
If the folder does not exist, it is made: OpenAI's `o200k_base` as a tokenizer of transformers, with ChatML's special tokens and the template
of fixtures/templates. From PyPI it needs transformers and tiktoken.

The loop over `apply_chat_template` keeps the instructions and the newest messages that fit, whose number it finds by bisection. It does not
keep tool pairs together. Seconds are CPU seconds, which other load affects least. For Python, they exclude imports and loading the
tokenizer; for `curtail`, they are those of the whole process with all its threads, including loading the tokenizer.
"""

import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

RANKS = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
TEMPLATE = pathlib.Path(__file__).parent.parent / "fixtures/templates/chat_template.jinja"


def make_model(folder):
    import tiktoken
    from transformers import PreTrainedTokenizerFast
    from transformers.convert_slow_tokenizer import TikTokenConverter

    pattern = tiktoken.get_encoding("o200k_base")._pat_str
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    converted = TikTokenConverter(RANKS, pattern, extra_special_tokens=special).converted()
    PreTrainedTokenizerFast(tokenizer_object=converted, eos_token="<|im_end|>").save_pretrained(folder)
    shutil.copy(TEMPLATE, folder / "chat_template.jinja")


def messages_of(record):
    return record if isinstance(record, list) else next(record[key] for key in ("messages", "traj") if key in record)


def counter(model):
    """A function that counts the tokens of a rendered list of messages."""
    from transformers import PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast.from_pretrained(model)
    tokenizer.chat_template = (model / "chat_template.jinja").read_text(encoding="utf-8")

    def count(messages, tools=None):
        return len(tokenizer.apply_chat_template(messages, tools=tools, tokenize=True, return_dict=False))

    return count


def read(data):
    with open(data, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def counted(data, count):
    """Seconds and counts of a loop over `apply_chat_template`."""
    begun = time.process_time()
    counts = [count(messages_of(record), record.get("tools") if isinstance(record, dict) else None) for record in read(data)]
    return time.process_time() - begun, counts


def limited(data, budget, count, out):
    """Seconds of a loop that keeps the newest messages that fit."""
    begun = time.process_time()
    with open(out, "w", encoding="utf-8") as file:
        for record in read(data):
            messages = messages_of(record)
            system = [message for message in messages if message["role"] == "system"]
            others = [message for message in messages if message["role"] != "system"]
            low, high = 0, len(others)
            while low < high:
                middle = (low + high) // 2
                low, high = (low, middle) if count(system + others[middle:]) <= budget else (middle + 1, high)
            file.write(json.dumps(system + others[low:], ensure_ascii=False) + "\n")
    return time.process_time() - begun


def of_children(command):
    """CPU seconds of another program, and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, output


def known(data, out):
    """Writes the records without messages of roles that templates do not know; `curtail` does not render those either."""
    roles = ("system", "developer", "user", "assistant", "tool")
    with open(out, "w", encoding="utf-8") as file:
        for record in read(data):
            record = record if isinstance(record, dict) else {"messages": record}
            record["messages"] = [message for message in messages_of(record) if message["role"] in roles]
            record.pop("traj", None)
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def row(name, work, times):
    ours = times["`curtail`"]
    for program, own in times.items():
        ratio = statistics.median(theirs / mine for theirs, mine in zip(own, ours))
        print(f"| {name} | {work} | {program} | {statistics.median(own):.2f} | {ratio:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("curtail", type=pathlib.Path)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("data", nargs="+", type=pathlib.Path)
    parser.add_argument("--budget", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    wanted = parser.parse_args()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    if not wanted.model.exists():
        make_model(wanted.model)
    count = counter(wanted.model)
    flags = ["-q", "--template", wanted.model]
    print("| data | work | program | seconds | times as long |\n|---|---|---|---|---|")
    for path in wanted.data:
        with tempfile.TemporaryDirectory() as folder:
            data, out = pathlib.Path(folder) / "data.jsonl", pathlib.Path(folder) / "out.jsonl"
            known(path, data)
            counting, limiting = {"`curtail`": [], "transformers": []}, {"`curtail`": [], "transformers": []}
            for _ in range(wanted.rounds):
                command = [wanted.curtail, "count", *flags, "--by", "transcript", "--output-format", "json", data]
                seconds, output = of_children(command)
                counting["`curtail`"].append(seconds)
                seconds, theirs = counted(data, count)
                counting["transformers"].append(seconds)
                rows = {row["transcript"]: row["tokens"] for row in json.loads(output)["rows"]}
                ours = [rows[f"{data}:{line}"] for line in range(1, len(theirs) + 1)]
                wrong = [line for line, tokens in enumerate(theirs, 1) if ours[line - 1] != tokens]
                assert not wrong, f"other counts than those of transformers in lines {wrong}"
                limit = [wanted.curtail, "limit", *flags, "-t", wanted.budget, "--on-overflow", "empty", data]
                seconds, output = of_children(limit)
                limiting["`curtail`"].append(seconds)
                kept = (messages_of(json.loads(line)) for line in output.decode().split("\n") if line)
                assert all(count(messages) <= wanted.budget for messages in kept if messages)
                limiting["transformers"].append(limited(data, wanted.budget, count, out))
            print(f"{len(theirs)} counts of {path.stem} are equal", file=sys.stderr)
            row(path.stem, "count", counting)
            row(path.stem, f"limit -t {wanted.budget}", limiting)


sys.exit(main())
