"""Builds the program and copies it to the scripts of the wheel. Usage: program.py [--profile NAME] [--target TRIPLE] [--locked]"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path("python/scripts.data/scripts")


def build_program(words):
    """Builds the program with these arguments of Cargo."""
    profile = [] if "--profile" in words else ["--release"]
    # With the module, so that Cargo builds every crate with the same features for both, and thus once.
    both = ["-p", "curtail", "-p", "curtail-python", "--features", "curtail/parquet"]
    command = ["cargo", "build", *both, "--bin", "curtail", *profile, *words]
    built = subprocess.run([*command, "--message-format=json-render-diagnostics"], stdout=subprocess.PIPE, check=True)
    messages = map(json.loads, built.stdout.splitlines())
    program = Path(next(message["executable"] for message in messages if message.get("executable")))
    for other in SCRIPTS.glob("curtail*"):
        if other.stem == "curtail":
            other.unlink()
    shutil.copy(program, SCRIPTS / program.name)


if __name__ == "__main__":
    build_program(sys.argv[1:])
