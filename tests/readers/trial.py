"""Tries the cuts of every input of a reader, and counts what the software takes."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from cuts import cut, cuts
from inputs import UNKNOWN, Input, inputs
from judgement import Unpaired, reasons
from outcomes import Compacted, Red, TooSmall, one_line
from reader import Reader


@dataclass
class Uncut:
    """How the software took an input before it was cut."""

    input: Input
    unpaired: Unpaired
    refusal: set[str] | None = None
    """Why the software refused it; a cut may be refused for the same reasons."""
    full: bytes | None = None
    """Its bytes, if an agent compacts it: a cut that leaves it as it is needs no other try."""


@dataclass
class Output:
    """A file that cuts wrote, and the names of these cuts."""

    path: Path
    names: list[str] = field(default_factory=list)


@dataclass
class Trial:
    """What came of the cuts; the counters are by dialect."""

    reader: Reader
    folder: Path
    tried: Counter = field(default_factory=Counter)
    taken: Counter = field(default_factory=Counter)
    compacted: Counter = field(default_factory=Counter)
    too_large: Counter = field(default_factory=Counter)
    same_refusal: Counter = field(default_factory=Counter)
    """Cuts that the software refused for the reasons for which it refused the uncut file."""
    red: list[str] = field(default_factory=list)
    uncut_refused: dict[str, str] = field(default_factory=dict)
    """Inputs that were not taken uncut, and why."""

    def run(self, only=None):
        """Tries every input, or those whose path contains `only`."""
        reader = self.reader
        for found in inputs(reader.dialects, reader.data, self.folder / "in", reader.named, reader.made):
            if only and only not in str(found.original):
                continue
            name = found.original.name
            if why := reader.reason_to_skip(name):
                if name not in UNKNOWN:
                    self.uncut_refused[f"{found.dialect}/{name}"] = f"not tried: {why}"
                continue
            uncut = self.load_uncut(found)
            if uncut:
                self.run_further_test(uncut)
                self.judge_all(uncut, self.outputs(uncut))

    def load_uncut(self, found):
        """Judges an input before it is cut; None if the software holds something else than is shown."""
        uncut = Uncut(found, self.reader.unpaired(found.path, found.dialect))
        name = found.original.name
        try:
            self.reader.judge(found.path, found.dialect, uncut.unpaired)
        except Compacted as error:
            uncut.full = found.path.read_bytes()
            self.uncut_refused[f"{found.dialect}/{name}"] = f"compacted, as it is full: {error}"
        except Red as error:
            self.red.append(f"{name}, uncut: {error}")
            return None
        except Exception as error:  # noqa: BLE001 - whatever the software raises
            uncut.refusal = reasons(error)
            self.uncut_refused[f"{found.dialect}/{name}"] = f"{type(error).__name__}: {str(error)[:300]}"
        return uncut

    def run_further_test(self, uncut):
        """Runs the reader's own test on an input that it takes."""
        test = self.reader.also
        if not test or uncut.refusal:
            return
        path = uncut.input.path
        try:
            test(path, self.folder / "also" / path.parent.name)
        except TooSmall:
            pass
        except Red as error:
            self.red.append(f"{uncut.input.original.name}: {test.__name__}: {error}")

    def outputs(self, uncut):
        """What the cuts of an input write, each content once."""
        path, dialect = uncut.input.path, uncut.input.dialect
        found = {}
        for number, arguments in enumerate(cuts(path, uncut.input.outlines[0])):
            name = f"{uncut.input.original.name}: {' '.join(map(str, arguments))}"
            try:
                files = cut(arguments, path, self.folder / "out" / path.parent.name / str(number))
            except TooSmall:
                continue
            except Red as error:
                self.red.append(f"{name}: {error}")
                continue
            for file in files:
                content = file.read_bytes()
                if content == uncut.full or not self.reader.fits(file):
                    self.too_large[dialect] += 1
                elif self.reader.shown(file, dialect):
                    found.setdefault(content, Output(file)).names.append(name)
        return list(found.values())

    def judge_all(self, uncut, outputs):
        with ThreadPoolExecutor(self.reader.jobs) as pool:
            list(pool.map(lambda output: self.judge(uncut, output), outputs))

    def judge(self, uncut, output):
        """Judges an output, for all cuts that wrote it."""
        dialect, count = uncut.input.dialect, len(output.names)
        self.tried[dialect] += count
        try:
            self.reader.judge(output.path, dialect, uncut.unpaired)
        except Exception as error:  # noqa: BLE001 - whatever the software raises
            if uncut.refusal and reasons(error) <= uncut.refusal:
                self.same_refusal[dialect] += count
                return
            self.compacted[dialect] += count * isinstance(error, Compacted)
            self.red.append(f"{output.names[0]}: {type(error).__name__}: {one_line(error, 400)}")
            return
        self.taken[dialect] += count

    def report_cuts(self):
        """Prints how many cuts were tried and taken."""
        for dialect in self.reader.dialects:
            text = f"  {dialect}: {self.tried[dialect]} cuts, {self.taken[dialect]} taken"
            if self.reader.window:
                text += f", each in one request, {self.compacted[dialect]} compacted, {self.too_large[dialect]} too large to try"
            if self.same_refusal[dialect]:
                text += f", {self.same_refusal[dialect]} refused as the uncut input is"
            print(text)

    def report_refusals(self):
        """Prints what was not taken, and why."""
        for name, why in self.uncut_refused.items():
            print(f"  refused: {name}: {one_line(why, 200)}")
        for red in self.red:
            print(f"  RED {red}")
