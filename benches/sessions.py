"""Times `curtail` on a file of sessions beside `cat`, and its start beside jq and ripgrep, and prints the tables of
docs/benchmarks.md.

Usage: sessions.py CURTAIL DATA [ROUNDS]

CURTAIL is the program, DATA a file with a transcript per line. Each round runs all commands one after another; what counts is the
median of the ratios within the rounds. Everything is written to /dev/null. Processor time is that of the process and of the system
on its behalf: other load changes it less than seconds of the clock.
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


def work(curtail, data):
    yield "`cat`", ["cat", data]
    commands = {
        "window": ["window", "-q", "-n", "40"],
        "limit": ["limit", "-q", "-t", "8k"],
        "check": ["check", "-q", "--exit-zero"],
        "filter": ["filter", "-q", "--strip", "reasoning"],
        "repair": ["repair", "-q"],
        "summarize": ["summarize", "-q"],
    }
    for name, command in commands.items():
        yield f"`curtail {name}`", [curtail, *command, data]
        yield f"`curtail {name} --jobs 1`", [curtail, *command, "--jobs", "1", data]


def start(curtail, chat):
    yield "`curtail window -n 4`", [curtail, "window", "-q", "-n", "4", chat]
    yield "`curtail limit -t 100`", [curtail, "limit", "-q", "-t", "100", chat]
    yield "`curtail --help`", [curtail, "--help"]
    if shutil.which("jq"):
        yield "`jq -c .`", ["jq", "-c", ".", chat]
    if shutil.which("rg"):
        yield "`rg user`", ["rg", "user", chat]


def run(command):
    """Seconds of the clock and of the processor, and the peak of memory in megabytes."""
    begun = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(command)} failed")
    return time.perf_counter() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def table(commands, rounds, unit):
    """Prints a row for each command, as ratios to the first one."""
    commands = [(name, [str(word) for word in command]) for name, command in commands]
    runs = {name: [] for name, _ in commands}
    for _ in range(rounds):
        for name, command in commands:
            runs[name].append(run(command))
    first = runs[commands[0][0]]
    label, factor = unit
    print(f"| {rounds} rounds | {label} | times the first | {label} of the processor | times the first | peak MB |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, own in runs.items():
        clock, cpu = (statistics.median(one[column] for one in own) * factor for column in (0, 1))
        pairs = list(zip(own, first, strict=True))
        ratios = [statistics.median(one[column] / base[column] for one, base in pairs) for column in (0, 1)]
        peak = max(one[2] for one in own)
        print(f"| {name} | {clock:.3g} | {ratios[0]:.1f} | {cpu:.3g} | {ratios[1]:.1f} | {peak:.0f} |")
    print()


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    curtail, data = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 7
    table(list(work(curtail, data)), rounds, ("seconds", 1))
    with tempfile.TemporaryDirectory() as folder:
        chat = pathlib.Path(folder, "chat.jsonl")
        roles = ["user", "assistant"] * 5
        messages = [{"role": role, "content": f"What is {nth}?"} for nth, role in enumerate(roles)]
        chat.write_text("".join(json.dumps(message) + "\n" for message in messages))
        table(list(start(curtail, chat)), 20 * rounds, ("milliseconds", 1000))


main()
