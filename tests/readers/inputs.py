"""The files that a reader is tried on: fixtures, what its software makes, and real transcripts."""

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from outcomes import Red
from program import ROOT, outlines

# Of a larger file of records, only the first are tried.
LARGE, FIRST_RECORDS = 500_000, 10
RECORDS = re.compile(rb'"(messages|conversations|traj|prompt)"')
# What the fixtures of this name contain is unknown on purpose.
UNKNOWN = {"unknown.jsonl": "contains what no software knows"}


@dataclass
class Input:
    """A transcript file before it is cut."""

    original: Path
    """The file that was found; its name identifies the input in messages."""
    path: Path
    """The copy in a folder of its own, which is given to the program and the software."""
    outlines: list
    """What `curtail show` prints of it: one outline for each transcript."""

    @property
    def dialect(self):
        return self.outlines[0]["dialect"]


def inputs(dialects, data, folder, named="", made=None):
    """Fixtures, what the software `made`, and, where `CURTAIL_DATA` names a folder, the real files below its folders `data`, if
    the file name matches `named` and the program detects one of the dialects. Copies are written into `folder`."""
    files = [file for dialect in dialects for file in sorted((ROOT / "fixtures/dialects" / dialect).iterdir())]
    files += write(made, folder / "made") if made else []
    real = os.environ.get("CURTAIL_DATA")
    for name in data if real else []:
        files += sorted(file for file in (Path(real) / name).rglob("*.json*") if file.stat().st_size)
    for number, file in enumerate(file for file in files if re.search(named, file.name)):
        path = folder / f"{number:03}" / file.name
        path.parent.mkdir(parents=True)
        path.write_bytes(shortened(file.read_bytes()))
        try:
            found = Input(file, path, outlines(path))
        except Red:
            continue
        if found.outlines and found.dialect in dialects:
            yield found


def write(made, folder):
    """Writes the files of a conversation that the software made: names, each with a text or with what becomes JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in made():
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return sorted(folder.iterdir())


def shortened(whole):
    """The first records of a large file of records; any other file whole."""
    if len(whole) > LARGE and RECORDS.search(whole[:4000]):
        return b"".join(whole.splitlines(True)[:FIRST_RECORDS])
    return whole
