"""Compares the time of `curtail` with that of other tools for the same job, and prints tables of docs/benchmarks.md.

Usage: compare.py CURTAIL GENERATE [MEGABYTES [ROUNDS]]

CURTAIL is the program, GENERATE the generator of chats (`cargo bench --bench generate --no-run` prints its path). Each round runs
all programs one after another; the result is the median of the ratios within the rounds. Everything is written to /dev/null. Peers
that are not installed are skipped: jq, jaq (`cargo install jaq`), node, and from PyPI orjson, langchain-core and datasets.
"""

import importlib.util
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
JQ = ".messages |= (map(select(.role == \"system\")) as $s | (.[:-40] | map(select(.role == \"system\"))) + .[-40:])"


def has(module):
    return importlib.util.find_spec(module) is not None


def python(script, *arguments):
    return [sys.executable, HERE / script, *arguments]


def window(curtail, data):
    """The last 40 messages of every record."""
    yield "`curtail window -n 40`", [curtail, "window", "-q", "-n", "40", data]
    yield "`curtail window -n 40 --jobs 1`", [curtail, "window", "-q", "-n", "40", "--jobs", "1", data]
    yield "`cat`", ["cat", data]
    if has("orjson"):
        yield "Python, orjson", python("window.py", "orjson", data)
    yield "Python, json", python("window.py", "json", data)
    if has("langchain_core"):
        yield "LangChain, `trim_messages`", python("window_langchain.py", data)
    if has("datasets"):
        yield "Hugging Face `datasets.map`, two processes", python("window_datasets.py", data)
    if shutil.which("node"):
        yield "Node", ["node", HERE / "window.js", data]
    if shutil.which("jaq"):
        yield "jaq", ["jaq", "-c", JQ, data]
    if shutil.which("jq"):
        yield "jq", ["jq", "-c", JQ, data]


def check(curtail, data):
    """Whether every record can be read, and for `curtail` and the script whether its pairs are whole."""
    yield "`curtail check`", [curtail, "check", "-q", data]
    yield "`curtail check --jobs 1`", [curtail, "check", "-q", "--jobs", "1", data]
    if has("orjson"):
        yield "Python, orjson, pairs by id", python("check.py", data)
    if shutil.which("jaq"):
        yield "`jaq empty`", ["jaq", "empty", data]
    if shutil.which("jq"):
        yield "`jq empty`", ["jq", "empty", data]


def run(command):
    """Wall-clock seconds, and peak memory in megabytes."""
    begun = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = 0
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{' '.join(command)} failed")
    return time.perf_counter() - begun, used.ru_maxrss / 1024


def table(commands, rounds):
    commands = [(name, [str(word) for word in command]) for name, command in commands]
    times = {name: [] for name, _ in commands}
    memory = {name: 0 for name, _ in commands}
    for _ in range(rounds):
        for name, command in commands:
            seconds, peak = run(command)
            times[name].append(seconds)
            memory[name] = max(memory[name], peak)
    ours = times[commands[0][0]]
    print(f"| {rounds} rounds | seconds | times as long as the first | peak MB |\n|---|---:|---:|---:|")
    for name, own in times.items():
        ratio = statistics.median(one / our for one, our in zip(own, ours))
        print(f"| {name} | {statistics.median(own):.2f} | {ratio:.2f} | {memory[name]:.0f} |")
    print()


def main():
    curtail, generate = sys.argv[1:3]
    megabytes = sys.argv[3] if len(sys.argv) > 3 else "500"
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    with tempfile.TemporaryDirectory() as folder:
        data = str(pathlib.Path(folder) / "chats.jsonl")
        with open(data, "wb") as out:
            subprocess.run([generate, megabytes], stdout=out, check=True)
        print(f"{megabytes} MB of chats.\n")
        for work in (window, check):
            print(f"{work.__doc__}\n")
            table(work(curtail, data), rounds)


main()
