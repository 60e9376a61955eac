"""The command line of every reader's file."""

import argparse
import sys
import tempfile
from pathlib import Path

from loopback import restrict_sockets
from planting import plant
from rules import judge_rules
from trial import Trial


def main(reader):
    """Tries the cuts, or, with `--plant`, tests the test; `--only NAME` tries the files whose path contains NAME."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--plant", action="store_true")
    parser.add_argument("--only")
    asked = parser.parse_args()
    restrict_sockets()
    with tempfile.TemporaryDirectory(prefix="curtail-readers-") as folder:
        if asked.plant:
            sys.exit(1 if plant(reader, Path(folder)) else 0)
        trial = Trial(reader, Path(folder))
        trial.run(asked.only)
        trial.report_cuts()
        if reader.knows is not None and not asked.only:
            agreed, red = judge_rules(reader, Path(folder) / "rules")
            print(f"  rules: {agreed} examples judged as the program judges them")
            trial.red += red
    trial.report_refusals()
    sys.exit(1 if trial.red or not all(trial.taken[dialect] for dialect in reader.dialects) else 0)
