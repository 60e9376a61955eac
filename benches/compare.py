"""Times `curtail` beside what else does the job, in pairs: each round runs all of them one after another, and what counts is
the median of the ratios.

Usage: compare.py CURTAIL GENERATE [MEGABYTES [ROUNDS]]

CURTAIL is the program, GENERATE the generator (`cargo bench --bench generate --no-run` says where it is). Peers that are not installed are
left out: jq, jaq, node, and Python with orjson (`pip install orjson`). Everything is written to /dev/null.
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


def peers(curtail, data):
    python = sys.executable
    yield "curtail window -n 40", [curtail, "window", "-q", "-n", "40", data]
    yield "curtail window -n 40 -j1", [curtail, "window", "-q", "-n", "40", "-j1", data]
    yield "curtail check", [curtail, "check", "-q", data]
    yield "cat", ["cat", data]
    if importlib.util.find_spec("orjson"):
        yield "Python, orjson", [python, HERE / "window.py", "orjson", data]
    yield "Python, json", [python, HERE / "window.py", "json", data]
    if shutil.which("node"):
        yield "Node", ["node", HERE / "window.js", data]
    if shutil.which("jaq"):
        yield "jaq", ["jaq", "-c", JQ, data]
    if shutil.which("jq"):
        yield "jq", ["jq", "-c", JQ, data]


def run(command):
    """Seconds of wall clock, and the peak of memory in megabytes."""
    begun = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        _, _, used = os.wait4(child.pid, 0)
        child.returncode = 0
    return time.perf_counter() - begun, used.ru_maxrss / 1024


def main():
    curtail, generate = sys.argv[1:3]
    megabytes = sys.argv[3] if len(sys.argv) > 3 else "500"
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    with tempfile.TemporaryDirectory() as folder:
        data = str(pathlib.Path(folder) / "chats.jsonl")
        with open(data, "wb") as out:
            subprocess.run([generate, megabytes], stdout=out, check=True)
        commands = list(peers(curtail, data))
        times = {name: [] for name, _ in commands}
        memory = {}
        for _ in range(rounds):
            for name, command in commands:
                seconds, memory[name] = run([str(word) for word in command])
                times[name].append(seconds)
    ours = times["curtail window -n 40"]
    print(f"| {megabytes} MB, {rounds} rounds | seconds | beside `curtail window` | peak MB |\n|---|---|---|---|")
    for name, own in times.items():
        ratio = statistics.median(one / our for one, our in zip(own, ours))
        print(f"| {name} | {statistics.median(own):.2f} | {ratio:.2f} | {memory[name]:.0f} |")


main()
