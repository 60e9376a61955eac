#!/usr/bin/env python3
"""Measures what the built-in summaries of coding sessions contain; see README.md beside this file."""

import argparse
import collections
import json
import re
import statistics
import subprocess
import sys

EDITS = {"edit", "write", "multiedit", "create_file", "write_file", "notebookedit"}
SHOWS = {"read", "grep", "glob"}
DONE = {"completed", "done", "cancelled", "deleted"}
PROGRAM = re.compile(r"\s*(<|# AGENTS\.md|\[Request interrupted|Caveat:|This session is being continued)|/\S+\s*$")


def run(binary, *arguments):
    done = subprocess.run([binary, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines() if line.strip()]


def pieces(data, message):
    """The parts of a message as (kind, name, text), by the places that `curtail show` prints."""
    for part in message["parts"]:
        start, end = part["span"]
        raw = data[start:end].decode("utf-8", "replace")
        try:
            value = json.loads(raw)
        except ValueError:
            try:
                value = json.loads(f'"{raw}"')
            except ValueError:
                value = raw
        yield part["kind"], part.get("name") or "", value


def text_of(value):
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "\n".join(text_of(value[key]) for key in ("text", "content", "output") if key in value)
    if isinstance(value, list):
        return "\n".join(text_of(item) for item in value)
    return ""


def arguments_of(value):
    for key in ("input", "arguments"):
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, dict) and key in value.get("function", {}):
            value = value["function"][key]
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {"command": value}
    return value if isinstance(value, dict) else {}


def flat(text):
    return " ".join(text.split())


class Facts:
    """What happened in the messages of one span, by rules that share nothing with the program."""

    def __init__(self):
        self.paths, self.commits, self.failing = {}, [], []
        self.asked, self.said, self.todos, self.source, self.code = [], None, None, [], []
        self.names = {}

    def take(self, data, item):
        message = item["message"]
        texts = []
        for nth, (kind, name, value) in enumerate(pieces(data, message)):
            if kind == "text":
                texts.append(text_of(value))
            elif kind == "tool-call":
                self.call(name, arguments_of(value))
                self.names[message["index"], nth] = name
            elif kind == "tool-result":
                pair = message["parts"][nth].get("pair")
                self.result(self.names.get(tuple(pair) if pair else None, ""), text_of(value))
        text = flat("\n".join(texts))
        if text and message["thread"] == 0:
            start, end = item["span"]
            written = any(mark in data[start:end] for mark in (b'"isMeta":true', b'"isCompactSummary":true'))
            automatic = PROGRAM.match(text) or written
            if message["role"] == "user" and not automatic:
                self.asked.append(text)
            elif message["role"] == "assistant":
                self.said = text

    def call(self, name, arguments):
        low = name.lower()
        path = next((arguments[key] for key in ("file_path", "path", "filePath") if isinstance(arguments.get(key), str)), None)
        if low in EDITS and path:
            self.paths[path] = True
            code = [arguments.get(key) for key in ("old_string", "new_string", "oldText", "newText", "content")]
            self.code += [flat(text)[:60] for text in code if isinstance(text, str) and len(flat(text)) > 30]
        command = arguments.get("command") or arguments.get("cmd")
        if isinstance(command, str):
            for found in re.findall(r"sed -i\S* (?:-e )?'[^']*' ([\w./-]+)|cat >+ ?([\w./-]+) <<", command):
                target = found[0] or found[1]
                if target and not target.startswith(("/tmp/", "/dev/")):
                    self.paths[target] = True
            for target in re.findall(r"(?:^|&& |\n)rm (?:-f )?([\w./-]+)", command):
                for path in [path for path in self.paths if path.endswith(target)]:
                    del self.paths[path]
            for target in re.findall(r"git checkout (?:-- )?([\w./-]+\.\w+)", command):
                for path in [path for path in self.paths if path.endswith(target)]:
                    del self.paths[path]
        if isinstance(arguments.get("todos"), list):
            self.todos = [item["content"] for item in arguments["todos"] if item.get("status") not in DONE]

    def result(self, name, text):
        self.commits += re.findall(r"^\[[^\]\n]+ ([0-9a-f]{7,12})\] ", text, re.M)
        failed = re.findall(r"^(?:FAILED|ERROR) (\S+::[^\n]*?)(?: - .*)?$", text, re.M)
        if failed:
            self.failing = failed[-1:]
        elif re.search(r"^=* ?\d+ passed.* in [\d.]+s", text, re.M):
            self.failing = []
        if name.lower() in SHOWS:
            lines = [re.sub(r"^\s*\d+[→\t:-]", "", line).strip() for line in text.splitlines()]
            self.source += [flat(line) for line in lines if len(flat(line)) > 24]


def spans(data, items, summaries):
    """The items of each summary: after the message that completes the one before it, up to the one that completes it."""
    messages = [item for item in items if "message" in item]
    spoken = []
    for at, item in enumerate(messages):
        message = item["message"]
        says = any(kind == "media" or kind == "text" and text_of(value) for kind, _, value in pieces(data, message))
        boundary = "boundary" in message.get("marks", [])
        if says and message["thread"] == 0 and message["role"] in ("user", "assistant") and not boundary:
            spoken.append(at)
    before = 0
    for summary in summaries:
        end = summary["range"]["endIndex"]
        if end > len(spoken):
            return
        yield summary, messages[before : spoken[end - 1] + 1]
        before = spoken[end - 1] + 1


def roots(text):
    """The folders that lists of files are below."""
    return re.findall(r"^(?:Changed|Written and run) below (\S+) \[m", text, re.M)


def measure(scores, facts, text):
    def share(kind, wanted, found):
        if wanted:
            scores[kind].append(sum(map(bool, map(found, wanted))) / len(wanted))

    held = flat(text)
    below = roots(text)
    share("names", facts.paths, lambda path: path.rsplit("/", 1)[-1] in held)
    share("paths", facts.paths, lambda path: path in held or any(path.startswith(root) and path[len(root) :] in held for root in below))
    share("failing tests", facts.failing, lambda name: name in held)
    share("commits", facts.commits, lambda commit: commit[:7] in held)
    share("open items", facts.todos, lambda item: flat(item)[:30] in held)
    share("user's messages", facts.asked, lambda said: said[:24] in held)
    share("last statement", [facts.said] if facts.said else [], lambda said: said[-24:] in held)
    scores["false errors"].append(any(line in held for line in facts.source))
    scores["cut paths"].append(any("/" in word and word.rstrip(",)").endswith("…") for word in text.split()))
    words = len(held.split())
    code = sum(len(line.split()) for line in facts.code if line in held)
    scores["tokens on code"].append(code / max(words, 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", help="sessions")
    parser.add_argument("--curtail", default="curtail", help="the binary")
    parser.add_argument("--tokens", default="400", help="tokens of every summary")
    parser.add_argument("--tokenizer", default="o200k_base", help="what counts them")
    parser.add_argument("--window", default="21", help="interactions of every summary")
    parser.add_argument("--show", type=int, default=0, help="print so many summaries of each session")
    options = parser.parse_args()
    scores, count = collections.defaultdict(list), 0
    for path in options.paths:
        with open(path, "rb") as file:
            data = file.read()
        flags = ["--emit", "state", "--max-summaries", "1000", "-n", options.window, "--summary-tokens", options.tokens]
        flags += ["--tokenizer", options.tokenizer]
        states = run(options.curtail, "summarize", *flags, path)
        shown = run(options.curtail, "show", "--output-format", "json", path)
        for state, transcript in zip(states, shown):
            for nth, (summary, items) in enumerate(spans(data, transcript["items"], state["summaries"])):
                facts = Facts()
                for item in items:
                    facts.take(data, item)
                measure(scores, facts, summary["text"])
                count += 1
                if nth < options.show:
                    print(f"== {path} {summary['range']}\n{summary['text']}\n")
    print(f"{count} summaries of {options.tokens} tokens")
    for kind, values in scores.items():
        print(f"{kind:18}{statistics.mean(values):7.3f}  of {len(values)}")


if __name__ == "__main__":
    main()
