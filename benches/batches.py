"""Compares the wheel with loops in Python under `datasets.map`, which cut to a budget. Usage: batches.py FILE RANKS [BUDGET [ROUNDS]]

FILE has a record with `messages` on every line; RANKS is `o200k_base.tiktoken`. The loops keep the system messages and the newest messages
that fit; they do not keep tool pairs together. The usual loop counts every message and drops the oldest until the rest fits; the lazy one
counts from the end and stops at the budget; the third is `trim_messages` of LangChain. Times are CPU seconds of Python and of the program
together, which other load affects little. Needs Linux, datasets, pyarrow, tiktoken and the wheel.
"""

import json
import os
import statistics
import sys
import time

import pyarrow
import tiktoken
from datasets import Dataset, disable_caching, disable_progress_bars
from tiktoken.load import load_tiktoken_bpe
from tiktoken_ext import openai_public

from curtail import Curtail


def encoder(path):
    openai_public.load_tiktoken_bpe = lambda *_, **__: load_tiktoken_bpe(path)
    return tiktoken.Encoding(**openai_public.o200k_base()).encode_ordinary


def seconds_of(pid):
    """The CPU time of a process, in seconds."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def limit(messages, budget, encode):
    def tokens(message):
        return len(encode(message["content"] or ""))

    left = budget - sum(tokens(message) for message in messages if message["role"] == "system")
    start = len(messages)
    for at in range(len(messages) - 1, -1, -1):
        if messages[at]["role"] != "system":
            left -= tokens(messages[at])
            if left < 0:
                break
            start = at
    return [message for at, message in enumerate(messages) if at >= start or message["role"] == "system"]


def limit_usual(messages, budget, encode):
    counts = [len(encode(message["content"] or "")) for message in messages]
    total, kept = sum(counts), []
    for message, count in zip(messages, counts):
        if total > budget and message["role"] != "system":
            total -= count
        else:
            kept.append(message)
    return kept


def trim(messages, budget, encode):
    from langchain_core.messages import convert_to_messages, convert_to_openai_messages, trim_messages

    def tokens(some):
        return sum(len(encode(message.content)) for message in some)

    # Results become user messages: LangChain requires call ids of results, and the dataset has none.
    roles = {"system": "system", "assistant": "assistant"}
    known = convert_to_messages([(roles.get(message["role"], "user"), message["content"] or "") for message in messages])
    kept = trim_messages(known, strategy="last", token_counter=tokens, max_tokens=budget, include_system=True)
    return convert_to_openai_messages(kept)


def main():
    path, ranks, budget, rounds = (*sys.argv[1:], "4000", "3")[:4]
    encode = encoder(ranks)
    with open(path, encoding="utf-8", newline="") as lines:
        texts = [line.rstrip("\n") for line in lines]
    objects = Dataset.from_list(
        [{"messages": [{"role": m["role"], "content": m["content"]} for m in json.loads(text)["messages"]]} for text in texts]
    )
    text = Dataset.from_dict({"messages": texts})
    arrow = text.with_format("arrow")
    table = pyarrow.table({"messages": texts})
    size = sum(map(len, texts)) / 1e6
    # Without a fingerprint, `map` hashes the encoder of the loops at every call, which takes longer than cutting a small file.
    named = {"new_fingerprint": "benchmark"}
    curtail = Curtail(["limit", "-t", budget])
    curtail.one(texts[0])

    def by_hand(cut):
        def work(row):
            record = json.loads(row["messages"])
            record["messages"] = cut(record["messages"], int(budget), encode)
            return {"messages": json.dumps(record, ensure_ascii=False)}

        return work

    def objects_by(cut):
        return objects.map(lambda row: {"messages": cut(row["messages"], int(budget), encode)}, **named)

    contests = {
        "objects": {
            "datasets.map, usual loop": lambda: objects_by(limit_usual),
            "datasets.map, lazy loop": lambda: objects_by(limit),
            "datasets.map, LangChain": lambda: objects_by(trim),
            "datasets.map, the wheel": lambda: objects.map(curtail.batch, batched=True, batch_size=200, **named),
        },
        "JSON text": {
            "datasets.map, usual loop": lambda: text.map(by_hand(limit_usual), **named),
            "datasets.map, lazy loop": lambda: text.map(by_hand(limit), **named),
            "datasets.map, LangChain": lambda: text.map(by_hand(trim), **named),
            "datasets.map, the wheel": lambda: text.map(curtail.batch, batched=True, batch_size=200, **named),
            "datasets.map, the wheel, format arrow": lambda: arrow.map(curtail.batch, batched=True, batch_size=200, **named),
            "a table, the wheel": lambda: curtail.batch(table),
        },
    }
    print(f"{len(texts)} records, {size:.0f} MB, {budget} tokens, {rounds} rounds")
    for kind, contest in contests.items():
        times = {name: [] for name in contest}
        for _ in range(int(rounds)):
            for name, work in contest.items():
                begun = time.process_time() + seconds_of(curtail.pid)
                work()
                times[name].append(time.process_time() + seconds_of(curtail.pid) - begun)
        usual, lazy = times["datasets.map, usual loop"], times["datasets.map, lazy loop"]
        for name, seconds in times.items():
            ratios = [statistics.median(slow / fast for slow, fast in zip(base, seconds)) for base in (usual, lazy)]
            median = statistics.median(seconds)
            print(f"| {kind} | {name} | {median:.2f} | {size / median:.0f} | {ratios[0]:.1f} | {ratios[1]:.1f} |", flush=True)


if __name__ == "__main__":
    disable_progress_bars()
    disable_caching()
    main()
