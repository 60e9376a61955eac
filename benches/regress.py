"""Compares the time of some commands of `curtail` with that of another build, in pairs, to detect changes that make one slower.

Usage: regress.py CURTAIL --base OTHER [--rounds N] [--model FOLDER] [--only WORDS] DATA…

CURTAIL and OTHER are two programs, such as those of a commit and of its parent; DATA are files or folders of transcripts. Each round
runs each command with both programs, in alternating order, with one thread and everything written to /dev/null. The result is the
median of the ratios within the rounds, in CPU seconds of user and system, which other load affects least. With --model, a folder of
a Hugging Face model, commands with its tokenizer and template are timed as well. --only runs the commands that contain WORDS. The last
lines name the commands that fail and those that are slower by more than 5 %; the exit status is 1 if there are any.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys

COMMANDS = [
    ["window", "-n", "40"],
    ["filter", "--keep-last-results", "3"],
    ["filter", "--strip", "reasoning"],
    ["limit", "-t", "8k"],
    ["limit", "-t", "50%", "--no-preserve-system"],
    ["split", "-t", "8k"],
    ["repair"],
    ["check", "--exit-zero"],
    ["count"],
    ["count", "--by", "role"],
    ["count", "--tokenizer", "approx"],
    ["summarize"],
]
OF_A_MODEL = [["count", "--tokenizer"], ["count", "--template"], ["limit", "-t", "8k", "--template"], ["split", "-t", "8k", "--template"]]
SLOWER = 1.05


def seconds(program, command, data):
    """CPU seconds; `None` if the program fails."""
    quiet = [] if command[0] == "count" else ["-q"]
    line = [program, *command, *quiet, "--jobs", "1", *data]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return None if child.returncode not in (0, 1) else used.ru_utime + used.ru_stime


def paired(programs, command, data, rounds):
    """The CPU seconds of both programs, one pair per round; empty if one fails."""
    pairs = []
    for number in range(rounds):
        turn = programs if number % 2 == 0 else programs[::-1]
        taken = dict(zip(turn, (seconds(program, command, data) for program in turn)))
        if None in taken.values():
            return []
        pairs.append([taken[program] for program in programs])
    return pairs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("curtail")
    parser.add_argument("--base", required=True, metavar="OTHER")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--model", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--only", default="", metavar="WORDS")
    parser.add_argument("data", nargs="+")
    flags = parser.parse_args()
    if os.path.samefile(flags.curtail, flags.base):
        sys.exit("regress.py: the two programs are one")
    commands = list(COMMANDS)
    if flags.model:
        files = [flags.model / "tokenizer.json", flags.model, flags.model, flags.model]
        commands += [[*command, str(file)] for command, file in zip(OF_A_MODEL, files)]
    failing, slower = [], []
    print("| command | seconds | base | ratio | from | to |\n|---|---:|---:|---:|---:|---:|")
    for command in commands:
        name = " ".join(command)
        if flags.only not in name:
            continue
        pairs = paired([flags.curtail, flags.base], command, flags.data, flags.rounds)
        if not pairs:
            print(f"| `{name}` | one of the programs fails | | | | |", flush=True)
            failing.append(name)
            continue
        ratios = [new / max(old, 0.001) for new, old in pairs]
        new, old = (statistics.median(column) for column in zip(*pairs))
        ratio = statistics.median(ratios)
        print(f"| `{name}` | {new:.2f} | {old:.2f} | {ratio:.2f} | {min(ratios):.2f} | {max(ratios):.2f} |", flush=True)
        if ratio > SLOWER:
            slower.append(f"{name} ({ratio:.2f})")
    print(f"not measured, because one of the programs fails: {', '.join(failing) or 'none'}")
    print(f"slower than {flags.base}: {', '.join(slower) or 'none'}")
    sys.exit(1 if failing or slower else 0)


if __name__ == "__main__":
    main()
