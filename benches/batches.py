"""Compares the module with loops in Python, which cut to a budget or to a number of messages. Usage: batches.py FILE RANKS [BUDGET [ROUNDS]]

FILE has a record with `messages` on every line; RANKS is `o200k_base.tiktoken`. The loops keep the system messages and the newest messages
that fit; they do not keep tool pairs together. The usual loop counts every message and drops the oldest until the rest fits; the lazy one
counts from the end and stops at the budget; the third is `trim_messages` of LangChain. Times are CPU seconds of the process, which other
load affects little. Needs datasets, pyarrow, tiktoken and the wheel; without LangChain, its rows are left out.
"""

import json
import statistics
import sys
import time
from importlib.util import find_spec

import pyarrow
import tiktoken
from datasets import Dataset, disable_caching, disable_progress_bars
from tiktoken.load import load_tiktoken_bpe
from tiktoken_ext import openai_public

from curtail import Curtail


def encoder(path):
    openai_public.load_tiktoken_bpe = lambda *_, **__: load_tiktoken_bpe(path)
    return tiktoken.Encoding(**openai_public.o200k_base()).encode_ordinary


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
    structs = objects.data.table
    newest = Curtail(["window", "-n", "10"])
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

    def last(messages):
        return messages[-10:]

    def last_of(text):
        record = json.loads(text)
        record["messages"] = last(record["messages"])
        return json.dumps(record, ensure_ascii=False)

    def by_batch(of, cut):
        return lambda: of.map(cut.batch, batched=True, batch_size=200, **named)

    def rows_of(table, cut):
        return lambda: pyarrow.array([cut(row) for row in table.column("messages").to_pylist()], table.schema.field("messages").type)

    contests = {
        "objects": {
            "datasets.map, usual loop": lambda: objects_by(limit_usual),
            "datasets.map, lazy loop": lambda: objects_by(limit),
            "datasets.map, LangChain": lambda: objects_by(trim),
            "datasets.map, the module": by_batch(objects, curtail),
            "datasets.map, the module, format arrow": by_batch(objects.with_format("arrow"), curtail),
        },
        "structs": {
            "a loop over a table, usual": rows_of(structs, lambda row: limit_usual(row, int(budget), encode)),
            "a table, the module": lambda: curtail.batch(structs),
        },
        "JSON text": {
            "datasets.map, usual loop": lambda: text.map(by_hand(limit_usual), **named),
            "datasets.map, lazy loop": lambda: text.map(by_hand(limit), **named),
            "datasets.map, LangChain": lambda: text.map(by_hand(trim), **named),
            "datasets.map, the module": by_batch(text, curtail),
            "datasets.map, the module, format arrow": by_batch(arrow, curtail),
            "a table, the module": lambda: curtail.batch(table),
        },
        "window -n 10, objects": {
            "datasets.map, plain loop": lambda: objects.map(
                lambda rows: {"messages": list(map(last, rows["messages"]))}, batched=True, batch_size=200, **named
            ),
            "datasets.map, the module": by_batch(objects, newest),
            "datasets.map, the module, format arrow": by_batch(objects.with_format("arrow"), newest),
        },
        "window -n 10, structs": {
            "a loop over a table, plain": rows_of(structs, last),
            "a table, the module": lambda: newest.batch(structs),
        },
        "window -n 10, JSON text": {
            "a loop over a table, plain": rows_of(table, last_of),
            "a table, the module": lambda: newest.batch(table),
        },
    }
    print(f"{len(texts)} records, {size:.0f} MB, {budget} tokens, {rounds} rounds")
    for kind, contest in contests.items():
        contest = {name: work for name, work in contest.items() if "LangChain" not in name or find_spec("langchain_core")}
        times = {name: [] for name in contest}
        for _ in range(int(rounds)):
            for name, work in contest.items():
                begun = time.process_time()
                work()
                times[name].append(time.process_time() - begun)
        usual = next(iter(times.values()))
        for name, seconds in times.items():
            ratio = statistics.median(slow / fast for slow, fast in zip(usual, seconds))
            median = statistics.median(seconds)
            print(f"| {kind} | {name} | {median:.2f} | {size / median:.0f} | {ratio:.1f} |", flush=True)


if __name__ == "__main__":
    disable_progress_bars()
    disable_caching()
    main()
