"""Runs the program under test, and reads what `curtail show` and `curtail count` print."""

import json
import os
import re
import subprocess
from pathlib import Path

from outcomes import Red, TooSmall

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("CURTAIL_PROGRAM") or str(ROOT / "target/debug/curtail")
WAIT = 120
# The exit status is 2 for every failure: only the message tells a cut that cannot be made from a fault.
TOO_SMALL = re.compile(
    rb"the (fixed part|part that every window repeats|last message that a person wrote)"
    rb"|would drop (all of|the only)|this row has answers to train on|keeps this transcript under a name"
)


def curtail(*arguments):
    """Standard output of the program."""
    done = subprocess.run([PROGRAM, "-q", *map(str, arguments)], capture_output=True, timeout=WAIT)
    if done.returncode:
        if TOO_SMALL.search(done.stderr):
            raise TooSmall
        raise Red(f"curtail {' '.join(map(str, arguments))}: {done.stderr.decode()[:400]}")
    return done.stdout


def outlines(path, dialect=None, live=False):
    """`curtail show` of a file: one outline for each transcript."""
    flags = ["--dialect", dialect] * bool(dialect) + ["--live"] * live
    return [json.loads(line) for line in curtail("show", "--output-format", "json", *flags, path).splitlines()]


def total_tokens(path):
    """The tokens of a file, as `curtail count` counts them."""
    totals = curtail("count", "--output-format", "json", path).splitlines()
    return sum(json.loads(total)["tokens"] for total in totals)


def shown_events(outline, results_last=False):
    """The events of an outline, as `Reader.load` returns events; `results_last` where software splits a message at its results."""
    found = []
    for message in (item["message"] for item in outline["items"] if "message" in item):
        role = "system" if message["role"] == "developer" else message["role"]
        parts = message["parts"]
        for part in sorted(parts, key=lambda part: part["kind"] == "tool-result") if results_last else parts:
            if part["kind"] == "text" and plain(part.get("begins", "")):
                found.append((role, part["begins"]))
            elif part["kind"] in ("tool-call", "tool-result"):
                found.append((part["kind"].removeprefix("tool-"), part.get("id") or part.get("name") or ""))
    return found


def plain(text):
    """A text on one line, without control characters, as `show` prints it."""
    return " ".join(re.sub(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]", "", str(text)).split())
