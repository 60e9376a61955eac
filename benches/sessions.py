"""Compares the time of `curtail` on a file of sessions with `cat`, and its startup with jq and ripgrep, and prints tables of
docs/benchmarks.md.

Usage: sessions.py CURTAIL DATA [ROUNDS]

CURTAIL is the program, DATA a file with a transcript per line. Each round runs all commands one after another; the result is the
median of the ratios within the rounds. Everything is written to /dev/null. Run it at real-time priority (`chrt -f 10 python3 …`) if
other programs use the machine. CPU time is that of user and system.
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


COMMANDS = {
    "window -n 40": ["window", "-q", "-n", "40"],
    "repair": ["repair", "-q"],
    "check": ["check", "-q", "--exit-zero"],
    "filter --strip reasoning": ["filter", "-q", "--strip", "reasoning"],
    "limit -t 8k": ["limit", "-q", "-t", "8k"],
    "count": ["count", "--output-format", "csv"],
    "summarize": ["summarize", "-q"],
}


def start(curtail, chat):
    yield "`curtail window -n 4`", [curtail, "window", "-q", "-n", "4", chat]
    yield "`curtail limit -t 100`", [curtail, "limit", "-q", "-t", "100", chat]
    yield "`curtail --help`", [curtail, "--help"]
    if shutil.which("jq"):
        yield "`jq -c .`", ["jq", "-c", ".", chat]
    if shutil.which("rg"):
        yield "`rg user`", ["rg", "user", chat]


def run(command):
    """Wall-clock and CPU seconds, and peak memory in megabytes."""
    begun = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(command)} failed")
    return time.perf_counter() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def sessions(curtail, data, rounds):
    """Prints a row for each command: with one thread, with all cores, and compared with `cat`."""
    copies, runs = [], {name: [] for name in COMMANDS}
    for _ in range(rounds):
        copies.append(run(["cat", data]))
        for name, command in COMMANDS.items():
            runs[name].append([run([curtail, *command, *jobs, data]) for jobs in (["--jobs", "1"], [])])
    median = statistics.median
    print(f"| {rounds} rounds | `--jobs 1`, seconds | all cores, seconds | times as fast | times `cat` | peak MB |")
    print("|---|---:|---:|---:|---:|---:|")
    print(f"| `cat` | {median(copy[0] for copy in copies):.3f} | | | 1.0 | |")
    for name, own in runs.items():
        one, all_cores = (median(pair[column][0] for pair in own) for column in (0, 1))
        faster = median(pair[0][0] / pair[1][0] for pair in own)
        ratio = median(pair[1][0] / copy[0] for pair, copy in zip(own, copies, strict=True))
        peak = max(pair[1][2] for pair in own)
        print(f"| `curtail {name}` | {one:.3f} | {all_cores:.3f} | {faster:.2f} | {ratio:.1f} | {peak:.0f} |")
    print()


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
    sessions(str(curtail), str(data), rounds)
    with tempfile.TemporaryDirectory() as folder:
        chat = pathlib.Path(folder, "chat.jsonl")
        roles = ["user", "assistant"] * 5
        messages = [{"role": role, "content": f"What is {nth}?"} for nth, role in enumerate(roles)]
        chat.write_text("".join(json.dumps(message) + "\n" for message in messages))
        table(list(start(curtail, chat)), 20 * rounds, ("milliseconds", 1000))


main()
