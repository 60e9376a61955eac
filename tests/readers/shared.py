"""What every reader has in common: the cuts, what `curtail show` says of them, and the judgement.

A reader's file defines `load(path)`, which gives a file to the software and returns what that holds: a list of
transcripts, each a list of events. An event is `(role, text)`, `("call", id)` or `("result", id)`; calls without an id go
by the name of their tool. `load` raises whatever the software raises.
"""

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("CURTAIL_PROGRAM") or str(ROOT / "target/debug/curtail")
WAIT = 120


def _only_loopback(connect):
    def guarded(self, address):
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise OSError(f"a reader tried to reach {address[0]}")
        return connect(self, address)

    return guarded


socket.socket.connect = _only_loopback(socket.socket.connect)
socket.socket.connect_ex = _only_loopback(socket.socket.connect_ex)


class Red(Exception):
    """The reader does not hold what was kept."""


class Compacted(Red):
    """An agent that resumes a session compacts it before it answers, or asks its model more than once."""


def only(requests):
    """The one request with which an agent answers a prompt."""
    if len(requests) != 1:
        raise Compacted(f"{len(requests)} requests to answer one prompt")
    return requests[0]


class TooSmall(Exception):
    """Not even what is always kept fits the budget that a cut names, it would leave nothing, or what it divides stays whole: a
    row with answers to train on, a transcript under a name."""


# ---------------------------------------------------------------- the program


def curtail(*arguments, check=True):
    """Standard output of the program under test."""
    done = subprocess.run([PROGRAM, "-q", *map(str, arguments)], capture_output=True, timeout=WAIT)
    if check and done.returncode:
        if re.search(rb"the (fixed part|part that every window repeats|last message that a person wrote)|would drop (all of|the only)|this row has answers to train on|keeps this transcript under a name", done.stderr):
            raise TooSmall
        raise Red(f"curtail {' '.join(map(str, arguments))}: {done.stderr.decode()[:400]}")
    return done.stdout


def outlines(path, dialect=None, live=False):
    """`curtail show` of a file: one outline for each transcript."""
    flags = ["--dialect", dialect] * bool(dialect) + ["--live"] * live
    return [json.loads(line) for line in curtail("show", "--output-format", "json", *flags, path).splitlines()]


def events(outline, sees=("text", "tool-call", "tool-result"), results_last=False):
    """The events of an outline, in the terms of `load`; `results_last` where software splits a message at its results."""
    found = []
    for message in (item["message"] for item in outline["items"] if "message" in item):
        role = "system" if message["role"] == "developer" else message["role"]
        parts = message["parts"]
        for part in sorted(parts, key=lambda part: part["kind"] == "tool-result") if results_last else parts:
            if part["kind"] not in sees:
                continue
            if part["kind"] == "text":
                if plain(part.get("begins", "")):
                    found.append((role, part["begins"]))
            else:
                kind = part["kind"].removeprefix("tool-")
                found.append((kind, part.get("id") or part.get("name") or ""))
    return found


# ---------------------------------------------------------------- the cuts


def cuts(path, outline):
    """Name and arguments of every cut to try."""
    tokens = sum(total["tokens"] for total in totals(path))
    names = [p["name"] for i in outline["items"] for p in i.get("message", {}).get("parts", []) if p.get("name")]
    for strategy in ("history", "sliding"):
        for size in (1, 10, 40):
            yield ["window", "-n", size, "--strategy", strategy]
    for share in (4, 2, 1.3):
        yield ["limit", "-t", max(1, int(tokens / share)), "--on-overflow", "keep-newest"]
    for strategy in ("history", "sliding"):
        yield ["window", "-n", 2, "--strategy", strategy, "--pin", "first-user"]
    yield ["window", "-n", 2, "--pin", "none"]
    yield ["window", "-n", 3, "--step", 2]
    yield ["window", "-n", 1, "--unit", "turns"]
    yield ["window", "-n", 2, "--unit", "turns", "--strategy", "sliding"]
    yield ["limit", "-t", max(1, tokens // 4), "--on-overflow", "truncate"]
    yield ["limit", "-t", max(1, tokens // 2), "--on-overflow", "keep-newest", "--pin", "first-user"]
    yield ["limit", "-t", max(1, tokens // 2), "--on-overflow", "keep-newest", "--step", max(1, tokens // 8)]
    tool = names[0] if names else "*"
    yield ["filter", "-x", tool]
    yield ["filter", "-x", tool, "--persist-results"]
    yield ["filter", "--strip", "reasoning"]
    yield ["filter", "--keep-last-results", 1]
    yield ["filter", "--keep-last-results", 2, "--step", 2]
    yield ["filter", "--keep-last-results", 0, "--clear-tool", tool]
    yield ["filter", "--keep-last-results", 1, "--clear-inputs"]
    yield ["filter", "--cap-result", 32]
    yield ["filter", "--keep-last-media", 0]
    yield ["filter", "--keep-last-media", 1]
    yield ["filter", "--drop-turn", "1"]
    yield ["filter", "--dedupe-results"]
    yield ["summarize", "-n", 2]
    for mode in ("drop", "stub", "move"):
        yield ["repair", "--mode", mode]
    yield ["memory", "recall", "--state", NOTE]
    yield ["memory", "apply", "--state", NOTE]
    yield ["split", "-t", max(1, int(tokens / 2)), "--on-overflow", "keep"]
    for name in curtail("run", "--list-presets").decode().splitlines():
        yield ["run", "--preset", name.split()[0]]


NOTE = Path(__file__).with_name("note.txt")


def totals(path):
    """Tokens of a file, as `curtail count` says."""
    return [json.loads(line) for line in curtail("count", "--output-format", "json", path).splitlines()]


def cut(arguments, path, folder):
    """The files that a cut writes; of `memory apply`, which prints a state, what recalls that state."""
    folder.mkdir(parents=True)
    if arguments[:2] == ["memory", "apply"]:
        state = folder.with_suffix(".state")
        state.write_bytes(curtail(*arguments, path))
        arguments = ["memory", "recall", "--state", state]
    curtail(*arguments, "-O", folder, path)
    return sorted(file for file in folder.rglob("*") if file.is_file())


# ---------------------------------------------------------------- the rules


def rule_examples(more):
    """The bad and the good example of each rule, from its page, and `more` of a dialect: name, dialect or None, and texts. What
    is not JSON on purpose is left out."""
    found = {}
    for page in sorted((ROOT / "docs/rules").glob("*.md")):
        blocks = re.findall(r"^## (Bad|Good)\n.*?```jsonl\n(.*?)```", page.read_text(), re.M | re.S)
        if blocks and page.stem not in ("invalid-json", "nothing-read"):
            found[page.stem] = (None, {kind.lower(): text for kind, text in blocks})
    return found | {name: (dialect, {"bad": lines(messages)}) for name, (dialect, messages) in more.items()}


def outlines_or_none(path):
    try:
        return outlines(path)
    except Red:
        return None


# ---------------------------------------------------------------- the inputs


def inputs(dialects, data, folder, named="", made=None):
    """Fixtures, what the software made, and, where `CURTAIL_DATA` names a folder, real files of these dialects; of large ones the
    first records."""
    files = [f for d in dialects for f in sorted((ROOT / "fixtures/dialects" / d).iterdir())]
    files += written(made, folder / "made") if made else []
    real = os.environ.get("CURTAIL_DATA")
    for name in data if real else []:
        files += sorted(f for f in (Path(real) / name).rglob("*.json*") if f.stat().st_size)
    for number, file in enumerate(f for f in files if re.search(named, f.name)):
        path = folder / f"{number:03}" / file.name
        path.parent.mkdir(parents=True)
        whole = file.read_bytes()
        if len(whole) > LARGE and RECORDS.search(whole[:4000]):
            whole = b"".join(whole.splitlines(True)[:10])
        path.write_bytes(whole)
        try:
            outline = outlines(path)
        except Red:
            continue
        if outline and outline[0]["dialect"] in dialects:
            yield file, path, outline


def written(made, folder):
    """The files of a conversation that the software made: name and text, or what is to be JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in made():
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return sorted(folder.iterdir())


def lines(values):
    """Values as JSON, a line each."""
    return "".join(json.dumps(value) + "\n" for value in values)


# The tokens of what an agent sends beside a conversation, and how much more its model counts than we do.
OWN, MARGIN = 25_000, 1.25
LARGE = 500_000
RECORDS = re.compile(rb'"(messages|conversations|traj|prompt)"')
# What the fixtures of this name contain is unknown on purpose.
UNKNOWN = {"unknown.jsonl": "contains what no software knows"}


def values(path):
    """The JSON values of a file, one after the other; an incomplete last line is passed over."""
    text, decoder, at, found = Path(path).read_text(encoding="utf-8"), json.JSONDecoder(), 0, []
    while True:
        at = re.compile(r"\s*").match(text, at).end()
        if at == len(text):
            return found
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError:
            if found and "\n" not in text[at:].strip():
                return found
            raise
        found.append(value)


KEYS = ("messages", "conversations", "conversation", "items", "input", "contents", "history", "trajectory", "traj", "events")


def transcripts(path, key=None):
    """Each transcript of a file as its messages, and the record that contains them."""
    found = values(path)
    keys = (key,) if key else KEYS
    if len(found) == 1 and isinstance(found[0], list):
        found = found[0]
    records = [(next((v[k] for k in keys if isinstance(v.get(k), list)), None) if isinstance(v, dict) else v, v) for v in found]
    if all(isinstance(messages, list) for messages, _ in records):
        return [(messages, record) for messages, record in records]
    return [(found, None)]


def validated(adapter, value):
    """The value, if it passes a pydantic adapter whole: what is validated only when it is read is read."""
    def read(checked):
        if isinstance(checked, dict):
            checked = checked.values()
        if not isinstance(checked, (str, bytes, int, float, bool, type(None))) and hasattr(checked, "__iter__"):
            for inner in checked:
                read(inner)

    read(adapter.validate_python(value))
    return value


# ---------------------------------------------------------------- the judgement


def plain(text):
    """A text on one line, without control characters, as `show` prints it."""
    return " ".join(re.sub(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]", "", str(text)).split())


def texts(text):
    """A text as `show` lists it: summaries that were put before it are one of their own."""
    return re.split(r"(?<=</conversation_summaries>)\n\n", text, maxsplit=1)


def same(shown, held):
    """Whether an event of `show`, whose text is shortened, is the event that the reader holds."""
    if shown[0] != held[0]:
        return False
    text = plain(held[1])
    if shown[0] in ("call", "result") or not shown[1].endswith("…"):
        return plain(shown[1]) == text
    return text.startswith(plain(shown[1][:-1]))


def open_ends(held):
    """Calls without a result after them, and results without a call before them."""
    calls, orphans = Counter(), Counter()
    for kind, name in held:
        if kind == "call":
            calls[name] += 1
        elif kind == "result":
            if calls[name]:
                calls[name] -= 1
            else:
                orphans[name] += 1
    return +calls, +orphans


def reason(error):
    """Why software refused, without the places and ids that a cut moves."""
    text = re.sub(r"[\d.,\[\]']+|input_value=.*|(?<=error)s(?= for )|For further.*", "", str(error))
    return {type(error).__name__ + ": " + line.strip() for line in text.splitlines() if line.strip()}


class Reader:
    """One piece of software, and the dialects that it reads."""

    def __init__(self, load, dialects, data=(), sees=("text", "tool-call", "tool-result"), adapt=None, damages=(), skip=None, named="", jobs=1, results_last=False, live=False, planted=None, parents=None, blind=None, also=None, window=None, made=None, knows=None, examples=None):
        self.knows, self.examples, self.agreed = knows, examples or {}, 0
        self.window, self.made, self.large, self.compacted = window, made, Counter(), Counter()
        self.live, self.planted, self.blind, self.also = live, planted or dialects, blind or {}, also
        self.jobs, self.results_last = jobs, results_last
        self.load, self.dialects, self.data, self.sees, self.named = load, dialects, data, sees, named
        self.adapt, self.damages, self.skip = adapt or (lambda shown: shown), list(damages), UNKNOWN | (skip or {})
        self.damages += [wrong_parent(parents)] * bool(parents)
        self.tried, self.taken, self.same_refusal, self.red, self.uncut_refused = Counter(), Counter(), Counter(), [], {}

    def held(self, path):
        return [[event for event in held if plain(event[1])] for held in self.load(path)]

    def shown(self, path, dialect):
        shown = [self.adapt(events(outline, self.sees, self.results_last)) for outline in outlines(path, dialect, self.live)]
        return [s for s in shown if s]

    def judge(self, path, dialect, before):
        """Raises `Red` unless the software holds what `show` says, with no half of a pair that was whole before."""
        held, shown = [h for h in self.held(path) if h], self.shown(path, dialect)
        if len(held) != len(shown):
            raise Red(f"{len(held)} transcripts for {len(shown)}")
        calls, orphans = Counter(), Counter()
        for a, b in zip(shown, held):
            for at in range(max(len(a), len(b))):
                if at >= len(a) or at >= len(b) or not same(a[at], b[at]):
                    raise Red(f"event {at}: shown {a[at:at + 2]}, held {b[at:at + 2]}")
            more = open_ends(b)
            calls, orphans = calls + more[0], orphans + more[1]
        if calls - before[0]:
            raise Red(f"calls without a result: {list(calls - before[0])}")
        if orphans - before[1]:
            raise Red(f"results without a call: {list(orphans - before[1])}")

    def ends(self, path, dialect):
        """Halves of pairs in a file before it is cut."""
        both = [open_ends(shown) for shown in self.shown(path, dialect)]
        return sum((c for c, _ in both), Counter()), sum((o for _, o in both), Counter())

    def fits(self, path):
        """Whether an agent has room for a file, and for what it sends beside it, before it compacts."""
        return not self.window or sum(total["tokens"] for total in totals(path)) * MARGIN + OWN <= self.window(path)

    def attempt(self, names, path, dialect, before, refused):
        """Judges an output, which several cuts may have."""
        self.tried[dialect] += len(names)
        try:
            self.judge(path, dialect, before)
        except Exception as error:  # noqa: BLE001 - whatever the software raises
            if refused and reason(error) <= refused:
                self.same_refusal[dialect] += len(names)
                return
            self.compacted[dialect] += len(names) * isinstance(error, Compacted)
            self.red.append(f"{names[0]}: {type(error).__name__}: {' '.join(str(error).split())[:400]}")
            return
        self.taken[dialect] += len(names)

    def run(self, folder, only=None):
        for file, path, outline in inputs(self.dialects, self.data, folder / "in", self.named, self.made):
            if only and only not in str(file):
                continue
            if file.name in self.skip:
                if file.name not in UNKNOWN:
                    self.uncut_refused[f"{outline[0]['dialect']}/{file.name}"] = f"not tried: {self.skip[file.name]}"
                continue
            dialect, before, refused = outline[0]["dialect"], self.ends(path, outline[0]["dialect"]), None
            full = None
            try:
                self.judge(path, dialect, before)
            except Compacted as error:
                full = path.read_bytes()
                self.uncut_refused[f"{dialect}/{file.name}"] = f"compacted, as it is full: {error}"
            except Red as error:
                self.red.append(f"{file.name}, uncut: {error}")
                continue
            except Exception as error:  # noqa: BLE001
                refused = reason(error)
                self.uncut_refused[f"{dialect}/{file.name}"] = f"{type(error).__name__}: {str(error)[:300]}"
            if self.also and not refused:
                try:
                    self.also(path, folder / "also" / path.parent.name)
                except TooSmall:
                    pass
                except Red as error:
                    self.red.append(f"{file.name}: {self.also.__name__}: {error}")
            outputs = {}
            for number, arguments in enumerate(cuts(path, outline[0])):
                name = f"{file.name}: {' '.join(map(str, arguments))}"
                try:
                    made = cut(arguments, path, folder / "out" / path.parent.name / str(number))
                except TooSmall:
                    continue
                except Red as error:
                    self.red.append(f"{name}: {error}")
                    continue
                for piece in made:
                    if piece.read_bytes() == full or not self.fits(piece):
                        self.large[dialect] += 1
                    elif self.shown(piece, dialect):
                        outputs.setdefault(piece.read_bytes(), ([], piece))[0].append(name)
            with ThreadPoolExecutor(self.jobs) as pool:
                list(pool.map(lambda made: self.attempt(*made, dialect, before, refused), outputs.values()))

    # -------------------------------------------------------- the examples of rules

    def judge_rules(self, folder):
        """The bad example of each rule that the types know is refused, and every other example is accepted."""
        folder.mkdir(parents=True)
        for name, (dialect, examples) in rule_examples(self.examples).items():
            for kind, text in examples.items():
                path = folder / f"{name}.{kind}.jsonl"
                path.write_text(text)
                outline = [] if dialect else (outlines_or_none(path) or [])
                if (dialect or (outline[0]["dialect"] if outline else None)) not in self.dialects:
                    continue
                try:
                    self.load(path)
                    refused = None
                except Exception as error:  # noqa: BLE001 - whatever the software raises
                    refused = f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
                if bool(refused) == (kind == "bad" and name in self.knows):
                    self.agreed += 1
                else:
                    self.red.append(f"{name}: the {kind} example is {'refused: ' + refused if refused else 'accepted'}")

    # -------------------------------------------------------- planted defects

    def plant(self, folder):
        """Damages what is taken, and counts the defects that nobody noticed."""
        unnoticed = 0
        for dialect in self.planted:
            for damage in [drop_result, call_after_result, *self.damages]:
                outcome = self.plant_one(dialect, damage, folder)
                missed = outcome in (NOT_NOTICED, NO_PLACE)
                if missed and damage.__name__ in self.blind:
                    outcome, missed = f"not red: {self.blind[damage.__name__]}", False
                print(f"  {dialect}: {damage.__name__}: {outcome}", flush=True)
                unnoticed += missed
        if self.also:
            outcome = self.plant_also(folder / "also")
            print(f"  {self.planted[0]}: {self.also.__name__}: {outcome}")
            unnoticed += outcome in (NOT_NOTICED, NO_PLACE)
        return unnoticed

    def plant_also(self, folder):
        """Whether the reader's own test notices that a row lost a target."""
        for file, path, _ in inputs(self.planted, (), folder / "in", self.named, self.made):
            try:
                self.judge(path, self.planted[0], self.ends(path, self.planted[0]))
                self.also(path, folder / path.parent.name)
            except Exception:  # noqa: BLE001 - refused uncut
                continue
            try:
                self.also(path, folder / path.parent.name, lambda targets: targets[1:])
            except Red as error:
                return f"red: {file.name}: {error}"
            return NOT_NOTICED
        return NO_PLACE

    def plant_one(self, dialect, damage, folder):
        missed = []
        for file, path, outline in inputs([dialect], (), folder / dialect / damage.__name__, self.named, self.made):
            before = self.ends(path, dialect)
            full = False
            try:
                try:
                    self.judge(path, dialect, before)
                except Compacted:
                    full = True
                damaged = damage(path.read_bytes(), outline[0])
            except Exception:  # noqa: BLE001 - refused uncut
                continue
            # What is compacted uncut shows stale figures alone.
            if full and damage is not stale_figures:
                continue
            if damaged is None:
                continue
            path.write_bytes(damaged)
            try:
                self.judge(path, dialect, before)
            except Exception as error:  # noqa: BLE001
                but = f" (not red: {', '.join(missed)})" * bool(missed)
                return f"red: {file.name}: {type(error).__name__}: {' '.join(str(error).split())[:100]}{but}"
            missed.append(file.name)
        return NOT_NOTICED if missed else NO_PLACE


NOT_NOTICED, NO_PLACE = "NOT NOTICED", "no input has a place for it"


def _pair(outline):
    """Items with a call and with its result, if they are two."""
    items = {item["message"]["index"]: item for item in outline["items"] if "message" in item}
    for index, item in items.items():
        for part in item["message"]["parts"]:
            answer = part.get("pair", [index])[0]
            if part["kind"] == "tool-call" and answer > index:
                return item["span"], items[answer]["span"]
    return None


def drop_result(whole, outline):
    """The first result is lost."""
    pair = _pair(outline)
    if not pair:
        return None
    (start, end) = pair[1]
    before, after = whole[:start], whole[end:]
    if after.lstrip()[:1] == b",":
        return before + after.lstrip()[1:]
    if before.rstrip()[-1:] == b",":
        return before.rstrip()[:-1] + after
    return before + after


def call_after_result(whole, outline):
    """The first call and its result change places."""
    pair = _pair(outline)
    if not pair:
        return None
    (a, b), (c, d) = pair
    call, result = whole[a:b].rstrip(b"\n"), whole[c:d].rstrip(b"\n")
    return whole[:a] + result + whole[a + len(call) : c] + call + whole[c + len(result) :]


def stale_figures(whole, outline):
    """The newest exchange, with figures of the whole session."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "session.jsonl" if b"}\n{" in whole else "session.json")
        path.write_bytes(whole)
        kept, reset = (curtail("window", "-n", 1, "--unit", "turns", "--usage", how, path) for how in ("keep", "reset"))
    return kept if kept != reset else None


def wrong_parent(key):
    """The last record with a parent names one that does not exist, by this key."""

    def wrong_parent(whole, outline):
        found = [*re.finditer(rb'"%s":\s*"' % key.encode(), whole)]
        return whole[: found[-1].end()] + b"z" + whole[found[-1].end() + 1 :] if found else None

    return wrong_parent


# ---------------------------------------------------------------- the command line


def main(load, dialects, **rest):
    """Runs one reader's file: `--plant` tests the test, `--only NAME` tries the files whose path contains NAME."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--plant", action="store_true")
    parser.add_argument("--only")
    asked = parser.parse_args()
    reader = Reader(load, dialects, **rest)
    with tempfile.TemporaryDirectory(prefix="curtail-readers-") as folder:
        if asked.plant:
            sys.exit(1 if reader.plant(Path(folder)) else 0)
        reader.run(Path(folder), asked.only)
        if reader.knows is not None and not asked.only:
            reader.judge_rules(Path(folder) / "rules")
    for dialect in dialects:
        refused = reader.same_refusal[dialect]
        agent = f", each in one request, {reader.compacted[dialect]} compacted, {reader.large[dialect]} too large to try" if reader.window else ""
        print(f"  {dialect}: {reader.tried[dialect]} cuts, {reader.taken[dialect]} taken{agent}" + f", {refused} refused as the uncut input is" * bool(refused))
    if reader.knows is not None:
        print(f"  rules: {reader.agreed} examples judged as the program judges them")
    for name, why in reader.uncut_refused.items():
        print(f"  refused: {name}: {' '.join(why.split())[:200]}")
    for red in reader.red:
        print(f"  RED {red}")
    sys.exit(1 if reader.red or not all(reader.taken[d] for d in dialects) else 0)
