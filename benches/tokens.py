"""Compares counting and cutting by tokens with other programs, and prints tables of docs/benchmarks.md.

Usage: tokens.py CURTAIL TOKENS [--rounds N] [--limit FILE] [--budget N] [TEXT...]

CURTAIL is the program, TOKENS the benchmark (`cargo bench --bench tokens --no-run` prints its path). The texts that TOKENS generates and
the files TEXT are counted; the records of FILE are cut
to N tokens, 4000 by default. Each round runs all programs one after another, each in a new process with empty
caches; the result is the median of the ratios within the rounds. A program that takes longer than four seconds for a text is measured once.
Peers that are not installed are skipped: from PyPI tiktoken and langchain-core, from npm js-tiktoken and gpt-tokenizer (found through
NODE_PATH). bpe-openai is built once by cargo, in a folder for temporary files.
"""

import argparse
import importlib.util
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

# Seconds. A program that took longer for a text is not run again.
SLOW = 4
HERE = pathlib.Path(__file__).parent
MAIN_RS = """fn main() {
    let text = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    let encoding = bpe_openai::o200k_base();
    encoding.count("");
    let start = std::time::Instant::now();
    let tokens = encoding.count(&text);
    println!("{} {tokens}", start.elapsed().as_secs_f64());
}
"""


def bpe_openai():
    folder = pathlib.Path(tempfile.gettempdir()) / "curtail-bench-bpe-openai"
    (folder / "src").mkdir(parents=True, exist_ok=True)
    package = '[package]\nname = "peer"\nversion = "0.0.0"\nedition = "2024"\n[dependencies]\nbpe-openai = "0.3.2"\n'
    (folder / "Cargo.toml").write_text(package)
    (folder / "src/main.rs").write_text(MAIN_RS)
    subprocess.run(["cargo", "build", "-q", "--release"], cwd=folder, check=True)
    return folder / "target/release/peer"


def has_node(name):
    return shutil.which("node") and subprocess.run(["node", "-e", f"require('{name}')"], stderr=subprocess.DEVNULL).returncode == 0


def python(ranks, *words):
    return [sys.executable, HERE / "tokens_peer.py", ranks, *words]


def counters(bench, ranks):
    yield "curtail", [bench, "--count", "ours"]
    yield "tiktoken-rs", [bench, "--count", "tiktoken-rs"]
    yield "bpe-openai", [bpe_openai()]
    if importlib.util.find_spec("tiktoken"):
        yield "Python tiktoken", python(ranks, "count")
    for name in ["js-tiktoken", "gpt-tokenizer"]:
        if has_node(name):
            yield name, ["node", HERE / "tokens_peer.js", name, "count"]


def limiters(curtail, bench, ranks, budget, data):
    yield "`curtail limit`", [curtail, "limit", "-q", "-t", budget, data]
    yield "`curtail limit --jobs 1`", [curtail, "limit", "-q", "-t", budget, "--jobs", "1", data]
    yield "tiktoken-rs, a loop in Rust", [bench, "--limit", budget, data]
    if importlib.util.find_spec("tiktoken"):
        yield "tiktoken, a loop in Python", python(ranks, "limit", budget, data)
        if importlib.util.find_spec("langchain_core"):
            yield "LangChain, `trim_messages` with tiktoken", python(ranks, "trim", budget, data)
    for name in ["js-tiktoken", "gpt-tokenizer"]:
        if has_node(name):
            yield f"{name}, a loop in Node", ["node", HERE / "tokens_peer.js", name, "limit", budget, data]


def count(command):
    """The seconds and the number of tokens that a counter prints."""
    seconds, tokens = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, check=True, text=True).stdout.split()
    return float(seconds), int(tokens)


def wall(command):
    """Wall-clock seconds, with the output written to /dev/null."""
    begun = time.perf_counter()
    subprocess.run(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begun


def count_table(peers, files, rounds):
    print("| times as fast as tiktoken-rs | " + " | ".join(name for name, _ in peers) + " | tiktoken-rs, MB/s |")
    print("|---" * (len(peers) + 2) + "|")
    for file in files:
        times, tokens = {name: [] for name, _ in peers}, {}
        for _ in range(rounds):
            for name, command in peers:
                if max(times[name], default=0) > SLOW:
                    continue
                seconds, tokens[name] = count([*command, file])
                times[name].append(seconds)
        base = times["tiktoken-rs"]
        ratios = {name: statistics.median(b / own for b, own in zip(base, times[name])) for name, _ in peers}
        best = max(ratios.values())
        cell = {name: f"**{ratio:.2g}**" if ratio == best else f"{ratio:.2g}" for name, ratio in ratios.items()}
        wrong = {name: " (miscounts)" for name in tokens if tokens[name] != tokens["tiktoken-rs"]}
        cells = " | ".join(cell[name] + wrong.get(name, "") for name, _ in peers)
        print(f"| {file.name} | {cells} | {file.stat().st_size / 1e6 / statistics.median(base):.1f} |", flush=True)


def limit_table(commands, rounds):
    times = {name: [] for name, _ in commands}
    for _ in range(rounds):
        for name, command in commands:
            times[name].append(wall(command))
    ours = times["`curtail limit`"]
    fastest = min(times, key=lambda name: statistics.median(times[name]))
    print(f"| {rounds} rounds | seconds | times as long as `curtail limit` |\n|---|---|---|")
    for name, own in times.items():
        ratio = statistics.median(theirs / mine for theirs, mine in zip(own, ours))
        name = f"**{name}**" if name == fastest else name
        print(f"| {name} | {statistics.median(own):.3f} | {ratio:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("curtail", type=pathlib.Path)
    parser.add_argument("tokens", type=pathlib.Path)
    parser.add_argument("texts", nargs="*", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--budget", default="4000")
    parser.add_argument("--limit", type=pathlib.Path, help="records to cut")
    wanted = parser.parse_args()
    os.environ.setdefault("NODE_PATH", str(pathlib.Path.cwd() / "node_modules"))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([wanted.tokens, "--texts", folder], check=True)
        ranks = pathlib.Path(folder) / "ranks"
        names = ["chat", "code", "chinese", "logs", "tool json", "mix"]
        files = [pathlib.Path(folder) / name for name in names] + wanted.texts
        count_table(list(counters(wanted.tokens, ranks)), files, wanted.rounds)
        if wanted.limit:
            print()
            data = str(wanted.limit)
            limit_table(list(limiters(wanted.curtail, wanted.tokens, ranks, wanted.budget, data)), wanted.rounds)


main()
