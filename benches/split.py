"""Compares `curtail split` with other ways to split long transcripts for training, and prints tables of docs/benchmarks.md.

Usage: split.py CURTAIL [--budgets N,N…] [--rounds N] DATA…

DATA is a file of records (messages of OpenAI or ShareGPT), or a folder of logs with a message per line. From PyPI it needs fschat,
transformers and tiktoken; all programs count with `o200k_base`. The peers:

- FastChat's `split_long_conversation`, with `o200k_base` as a tokenizer of transformers, as it requires, and with tiktoken itself. Its
  format has only humans and models, so messages of the same side become one turn: results belong to the human, calls to the model, and
  instructions begin the first turn. The conversion is not timed. For all programs, tool definitions and messages of other roles are dropped.
- A loop that fills windows with messages until the budget is full, and repeats the instructions in each.

An assistant message is a valid target of a window that fits if a user message precedes it there (as in the input), its calls are answered
(as in the input), and no result before it lacks its call. A pair is broken if no window contains both its call and its result. A message
fits alone if it fits the budget together with the pairs it belongs to, the instructions, and the user message of its turn. Seconds are CPU
seconds, which other load affects least. For Python programs, they exclude imports and loading the tokenizer, and include reading and
writing; for `curtail`, they are those of the whole process with all its threads.
"""

import argparse
import itertools
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from types import SimpleNamespace

RANKS = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
SIDES = {"human": "user", "gpt": "assistant", "function_call": "assistant", "observation": "tool"}


def read(path):
    """The messages of the records of a file, or of a folder of logs."""
    lines = lambda file: [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]  # noqa: E731
    lists = map(lines, sorted(path.glob("*.jsonl"))) if path.is_dir() else map(messages_of, lines(path))
    for messages in lists:
        spoken = [message for message in messages if side(message) in ("system", "developer", "user", "assistant", "tool")]
        yield {"messages" if "role" in spoken[0] else "conversations": spoken}


def messages_of(record):
    return record if isinstance(record, list) else next(record[key] for key in ("messages", "traj", "conversations") if key in record)


def side(message):
    role = message.get("role") or message["from"]
    return SIDES.get(role, role)


def texts(message):
    content = message.get("content", message.get("value"))
    yield from [content] if isinstance(content, str) else [block.get("text") or "" for block in content or []]
    for call in message.get("tool_calls") or []:
        yield from (call["function"]["name"], call["function"]["arguments"])


def call_texts(message):
    """The texts of a ShareGPT call that are counted: the name, and the arguments as written."""
    call = message["value"]
    start = call.index('"arguments"') + len('"arguments"')
    start += len(call[start:]) - len(call[start:].lstrip(": "))
    end = json.JSONDecoder().raw_decode(call, start)[1]
    arguments = json.loads(call[start:end])
    return json.loads(call)["name"], arguments if isinstance(arguments, str) else compact(call[start:end])


def compact(text):
    """JSON without white space between its tokens, otherwise as written."""
    quoted = text.split('"')
    inside, parts = False, []
    for number, part in enumerate(quoted):
        parts.append(part if inside else "".join(part.split()))
        escaped = inside and (len(part) - len(part.rstrip("\\"))) % 2
        inside = inside if escaped or number == len(quoted) - 1 else not inside
    return '"'.join(parts)


class Transcript:
    """Messages with their token counts and pairs."""

    def __init__(self, messages, count):
        self.messages = messages
        self.sides = [side(message) for message in messages]
        self.tokens = []
        for message in messages:
            is_call = message.get("from") == "function_call"
            self.tokens.append(sum(count(text) for text in (call_texts(message) if is_call else texts(message))))
        self.pairs = list(self.find_pairs())
        self.calls, self.results = {}, {}
        for call, result in self.pairs:
            self.calls.setdefault(call, []).append(result)
            self.results.setdefault(result, []).append(call)

    def find_pairs(self):
        """Yields each call with its result. The call is the nearest earlier open one with the id of the result."""
        still_open = []
        for at, message in enumerate(self.messages):
            if message.get("from") == "function_call":
                still_open.append((None, at))
            still_open += [(call.get("id"), at) for call in message.get("tool_calls") or []]
            if self.sides[at] != "tool":
                continue
            for wanted in message.get("tool_call_ids") or [message.get("tool_call_id")]:
                found = next((call for call in reversed(still_open) if call[0] == wanted), None)
                if found:
                    still_open.remove(found)
                    yield found[1], at

    def fits_alone(self, at, budget):
        first = last = at
        while True:
            touching = [pair for pair in self.pairs if pair[0] <= last and pair[1] >= first]
            low = min([first, *(call for call, _ in touching)])
            high = max([last, *(result for _, result in touching)])
            if (low, high) == (first, last):
                break
            first, last = low, high
        needed = set(range(first, last + 1))
        needed.update(one for one in range(first) if self.sides[one] in ("system", "developer"))
        needed.update([one for one in range(first) if self.sides[one] == "user"][-1:])
        return sum(self.tokens[one] for one in needed) <= budget

    def valid_targets(self, window, targets, budget):
        """The targets of a window, a list of message indices, that a trainer can use."""
        if sum(self.tokens[at] for at in window) > budget:
            return
        present, before, asked, whole = set(window), set(), False, True
        for at in window:
            whole &= all(call in before for call in self.results.get(at, []))
            answered = all(result in present for result in self.calls.get(at, []))
            begun = asked or "user" not in self.sides[:at]
            if at in targets and whole and answered and begun:
                yield at
            before.add(at)
            asked |= self.sides[at] == "user"


def score(transcripts, windows, budget):
    """The share of assistant tokens that are valid targets, the share that fits alone, and the number of broken pairs."""
    kept = possible = total = broken = 0
    for transcript, own in zip(transcripts, windows, strict=True):
        valid = set(itertools.chain.from_iterable(transcript.valid_targets(*window, budget) for window in own))
        assistant = [at for at, speaker in enumerate(transcript.sides) if speaker == "assistant"]
        total += sum(transcript.tokens[at] for at in assistant)
        kept += sum(transcript.tokens[at] for at in valid)
        possible += sum(transcript.tokens[at] for at in assistant if transcript.fits_alone(at, budget))
        broken += sum(not any(call in window and result in window for window, _ in own) for call, result in transcript.pairs)
    return kept / total, possible / total, broken


def own_windows(transcript, numbers):
    return [(window, [at for at in window if transcript.sides[at] == "assistant"]) for window in numbers]


def of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def curtail(program, budget, data, transcripts, folder):
    """Seconds and windows of `curtail split`. Its output is compared with the input."""
    out, places = folder / "curtail.jsonl", folder / "map.jsonl"
    command = [program, "split", "-q", "-t", budget, "--on-overflow", "keep", "--force", "--map", places, data, "-o", out]
    begun = of_children()
    subprocess.run(list(map(str, command)), check=True)
    seconds = of_children() - begun
    windows = [[] for _ in transcripts]
    rows = out.read_text(encoding="utf-8").split("\n")
    for line in places.read_text(encoding="utf-8").splitlines():
        place = json.loads(line)
        transcript = transcripts[place["line"] - 1]
        numbers = [range(*some) for some in place["pinned"] + place["context"] + place["own"]]
        window = sorted(itertools.chain.from_iterable(numbers))
        written = messages_of(json.loads(rows[place["output_line"] - 1]))
        assert written == [transcript.messages[at] for at in window], place
        assert place["tokens"] == sum(transcript.tokens[at] for at in window), place
        windows[place["line"] - 1].append((window, [window[at] for at in place["targets"]]))
    return seconds, windows


def naive(budget, data, transcripts, folder, count):
    """Seconds and windows of a loop that fills windows message by message."""
    begun = time.process_time()
    numbers = []
    with open(data, encoding="utf-8") as lines, open(folder / "naive.jsonl", "w", encoding="utf-8") as out:
        for line in lines:
            record = json.loads(line)
            messages = messages_of(record)
            pinned = [at for at, message in enumerate(messages) if side(message) in ("system", "developer")]
            base = full = sum(count(text) for at in pinned for text in texts(messages[at]))
            windows = [[]]
            for at, message in enumerate(messages):
                if at in pinned:
                    continue
                tokens = sum(count(text) for text in texts(message))
                if full + tokens > budget and windows[-1]:
                    windows.append([])
                    full = base
                windows[-1].append(at)
                full += tokens
            numbers.append([pinned + window for window in windows])
            for window in numbers[-1]:
                out.write(json.dumps({"messages": [messages[at] for at in window]}, ensure_ascii=False) + "\n")
    seconds = time.process_time() - begun
    return seconds, [own_windows(transcript, own) for transcript, own in zip(transcripts, numbers, strict=True)]


def convert(transcript):
    """A conversation in FastChat's format, in which each turn also lists its messages."""
    turns = []
    for at, message in enumerate(transcript.messages):
        speaker = "gpt" if transcript.sides[at] == "assistant" else "human"
        if not turns or turns[-1]["from"] != speaker:
            turns.append({"from": speaker, "value": "", "numbers": []})
        turns[-1]["value"] += "\n".join(texts(message)) + "\n"
        turns[-1]["numbers"].append(at)
    return turns if turns[0]["from"] == "human" else turns[1:]


def of_transformers(encoding):
    """The encoding as a tokenizer of transformers."""
    from transformers import PreTrainedTokenizerFast
    from transformers.convert_slow_tokenizer import TikTokenConverter

    return PreTrainedTokenizerFast(tokenizer_object=TikTokenConverter(RANKS, encoding._pat_str).converted())


def fastchat(budget, converted, transcripts, folder, tokenizer):
    """Seconds and windows of FastChat's splitter, in one process."""
    from fastchat.data import split_long_conversation as splitter

    splitter.tokenizer, splitter.max_length = tokenizer, budget
    begun = time.process_time()
    with open(converted, encoding="utf-8") as file:
        samples = json.load(file)
    split = splitter.filter_invalid_roles(splitter.worker(samples))
    with open(folder / "fastchat.json", "w", encoding="utf-8") as out:
        json.dump(split, out, indent=2, ensure_ascii=False)
    seconds = time.process_time() - begun
    numbers = [[] for _ in transcripts]
    for sample in split:
        own = [at for turn in sample["conversations"] for at in turn["numbers"]]
        numbers[int(sample["id"].split("_")[0])].append(own)
    return seconds, [own_windows(transcript, own) for transcript, own in zip(transcripts, numbers, strict=True)]


def measure(programs, transcripts, budget, rounds):
    """For each program, the score of its windows and the seconds of all rounds."""
    times, found = {name: [] for name, _ in programs}, {}
    for _ in range(rounds):
        for program, run in programs:
            seconds, found[program] = run(budget)
            times[program].append(seconds)
    return {name: score(transcripts, windows, budget) for name, windows in found.items()}, times


def tables(measured):
    """Prints a table of scores and one of seconds."""
    programs = list(measured[0][2])
    kept = [name for name in programs if "tiktoken" not in name]
    print("| valid targets / broken pairs | tokens | fits alone | " + " | ".join(kept) + " |")
    print("|---" + "|---:" * (len(kept) + 2) + "|")
    for name, budget, scores, _ in measured:
        cells = [f"{scores[program][0]:.1%} / {scores[program][2]}" for program in kept]
        print(f"| {name} | {budget} | {scores[kept[0]][1]:.1%} | " + " | ".join(cells) + " |")
    print("\n| seconds, and times as long | tokens | " + " | ".join(programs) + " |")
    print("|---" + "|---:" * (len(programs) + 1) + "|")
    for name, budget, _, times in measured:
        ours = times[programs[0]]
        ratio = {one: statistics.median(theirs / mine for theirs, mine in zip(times[one], ours)) for one in programs}
        cells = [f"{statistics.median(times[one]):.2f}" + f" ({ratio[one]:.0f})" * (one != programs[0]) for one in programs]
        print(f"| {name} | {budget} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("curtail", type=pathlib.Path)
    parser.add_argument("data", nargs="+", type=pathlib.Path)
    parser.add_argument("--budgets", default="4000,8000,32000")
    parser.add_argument("--rounds", type=int, default=5)
    wanted = parser.parse_args()
    import tiktoken

    encoding = tiktoken.get_encoding("o200k_base")
    count = lambda text: len(encoding.encode_ordinary(text))  # noqa: E731
    tokenizers = {
        "FastChat": of_transformers(encoding),
        "FastChat with tiktoken": lambda text: SimpleNamespace(input_ids=encoding.encode_ordinary(text)),
    }
    measured = []
    for path in wanted.data:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            data, converted = folder / "data.jsonl", folder / "converted.json"
            records = list(read(path))
            data.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
            transcripts = [Transcript(messages_of(record), count) for record in records]
            samples = [{"id": str(at), "conversations": convert(one)} for at, one in enumerate(transcripts)]
            converted.write_text(json.dumps(samples, ensure_ascii=False), encoding="utf-8")
            programs = [
                ("`curtail split`", lambda budget: curtail(wanted.curtail, budget, data, transcripts, folder)),
                *(
                    (name, lambda budget, own=own: fastchat(budget, converted, transcripts, folder, own))
                    for name, own in tokenizers.items()
                ),
                ("a loop over messages", lambda budget: naive(budget, data, transcripts, folder, count)),
            ]
            for budget in map(int, wanted.budgets.split(",")):
                measured.append((path.stem, budget, *measure(programs, transcripts, budget, wanted.rounds)))
    tables(measured)


sys.exit(main())
