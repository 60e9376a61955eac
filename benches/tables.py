"""Compares `curtail` on Parquet and Arrow files with pyarrow and `json`. Usage: tables.py CURTAIL FILE [ROUNDS]

CURTAIL is a program with the feature `parquet`; FILE has a record with `messages` on every line, and is converted to a Parquet file and
an Arrow stream with two more columns. Prints CPU seconds, megabytes of text per second and peak resident megabytes of each program, as
medians of the rounds, and fails if an output differs in another column. Needs Linux and pyarrow.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile

import pyarrow
from pyarrow import ipc, parquet

KEPT = 40


def write(path, batches, schema):
    if path.endswith(".parquet"):
        with parquet.ParquetWriter(path, schema, compression="snappy") as writer:
            for batch in batches:
                writer.write_batch(batch)
    else:
        with ipc.new_stream(path, schema) as writer:
            for batch in batches:
                writer.write_batch(batch)


def read(path):
    if path.endswith(".parquet"):
        file = parquet.ParquetFile(path)
        return file.schema_arrow, file.iter_batches(1000)
    reader = ipc.open_stream(path)
    return reader.schema, reader


def cut_by_hand(path, output):
    """What scripts do without `curtail`: keeps the last messages of every record, even if that breaks tool pairs."""
    schema, batches = read(path)

    def cut(text):
        record = json.loads(text)
        messages = record["messages"]
        head = [message for message in messages[:-KEPT] if message["role"] == "system"]
        record["messages"] = head + messages[-KEPT:]
        return json.dumps(record, ensure_ascii=False)

    def rows():
        for batch in batches:
            column = pyarrow.array([cut(text) for text in batch.column("chat").to_pylist()])
            yield batch.set_column(1, "chat", column)

    write(output, rows(), schema)


# Runs a program from a small process, because the peak memory of a child is at least the memory of its parent.
RUNNER = """
import os, sys
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
print(status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, file=sys.stderr)
"""


def run(command):
    """CPU seconds and peak megabytes of a process, whose output is discarded."""
    done = subprocess.run([sys.executable, "-S", "-c", RUNNER, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    status, seconds, peak = done.stderr.split()[-3:]
    if int(status):
        sys.exit(f"{command}: {done.stderr.decode()}")
    return float(seconds), float(peak)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program, source, rounds = (*sys.argv[1:], "3")[:3]
    with open(source, encoding="utf-8", newline="") as lines:
        texts = [line.rstrip("\n") for line in lines]
    size = sum(len(text.encode()) for text in texts) / 1e6
    table = pyarrow.table({"id": range(len(texts)), "chat": texts, "score": [number / 7 for number in range(len(texts))]})
    with tempfile.TemporaryDirectory() as folder:
        for ending in ("parquet", "arrow"):
            old, new = f"{folder}/old.{ending}", f"{folder}/new.{ending}"
            write(old, table.to_batches(1000), table.schema)
            works = {
                "`curtail window -n 40`": [program, "window", "-q", "-n", str(KEPT), old, "-o", new, "--force"],
                "`curtail check`": [program, "check", "-q", "--exit-zero", old],
                "`curtail limit -t 4k`": [program, "limit", "-q", "-t", "4k", old, "-o", new, "--force"],
                "pyarrow and `json`": [sys.executable, __file__, "--by-hand", old, new],
            }
            runs_of = {name: [] for name in works}
            for _ in range(int(rounds)):
                for name, command in works.items():
                    runs_of[name].append(run(command))
                    if new in command:
                        schema, batches = read(new)
                        kept = pyarrow.Table.from_batches(batches, schema).drop(["chat"])
                        assert kept.equals(table.drop(["chat"])), name
            for name, runs in runs_of.items():
                seconds, peak = (statistics.median(values) for values in zip(*runs))
                print(f"| {ending} | {name} | {seconds:.2f} | {size / seconds:.0f} | {peak:.0f} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--by-hand"]:
        cut_by_hand(*sys.argv[2:4])
    else:
        main()
