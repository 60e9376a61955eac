"""What scripts with tiktoken do. Usage: tokens_peer.py RANKS count FILE | limit N FILE | trim N FILE

`count` prints the seconds that the first count takes, and the number of tokens. `limit` keeps the system messages of every record and the
newest other messages that fit N tokens, counted backwards from the end; `trim` does this with LangChain. RANKS is a file of `HEX ID` lines.
"""

import json
import sys
import time

import tiktoken
from tiktoken_ext import openai_public


def encoding(path):
    with open(path) as lines:
        ranks = {bytes.fromhex(token): int(rank) for token, rank in map(str.split, lines)}
    openai_public.load_tiktoken_bpe = lambda *_, **__: ranks
    return tiktoken.Encoding(**openai_public.o200k_base())


def texts(message):
    content = message.get("content")
    yield from [content] if isinstance(content, str) else [block.get("text") or "" for block in content or []]
    for call in message.get("tool_calls") or []:
        yield from (call["function"]["name"], call["function"]["arguments"])


def limit(messages, budget, count):
    def tokens(message):
        return sum(count(text) for text in texts(message))

    left = budget - sum(tokens(message) for message in messages if message["role"] == "system")
    start = len(messages)
    for at in range(len(messages) - 1, -1, -1):
        if messages[at]["role"] == "system":
            continue
        left -= tokens(messages[at])
        if left < 0:
            break
        start = at
    return [message for at, message in enumerate(messages) if at >= start or message["role"] == "system"]


def trim(messages, budget, count):
    from langchain_core.messages import convert_to_messages, convert_to_openai_messages, trim_messages

    def tokens(some):
        return sum(count(text) for message in convert_to_openai_messages(some) for text in texts(message))

    known = [message for message in messages if message["role"] in ("system", "user", "assistant", "tool")]
    kept = trim_messages(
        convert_to_messages(known), strategy="last", token_counter=tokens, max_tokens=budget, include_system=True
    )
    return convert_to_openai_messages(kept)


def main():
    ranks, job, *rest = sys.argv[1:]
    encode = encoding(ranks).encode_ordinary
    if job == "count":
        with open(rest[0], encoding="utf-8", newline="") as file:
            text = file.read()
        begun = time.perf_counter()
        tokens = len(encode(text))
        print(time.perf_counter() - begun, tokens)
        return
    cut = limit if job == "limit" else trim
    with open(rest[1], "rb") as lines:
        for line in lines:
            record = json.loads(line)
            messages = record if isinstance(record, list) else record["messages"]
            messages[:] = cut(messages, int(rest[0]), lambda text: len(encode(text)))
            sys.stdout.write(json.dumps(record, ensure_ascii=False) + "\n")


main()
