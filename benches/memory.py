"""Shows the largest memory of a process that cuts a stream of records and one that cuts a stream of record batches, for two sizes.
Usage: memory.py [MEGABYTES]

The sizes are MEGABYTES (1,600 by default) and a quarter of it: memory is flat if both need the same. Every measurement is a process of
its own. Needs pyarrow and the wheel.
"""

import json
import resource
import subprocess
import sys

WORDS = "the train to the harbour leaves at nine and comes back in the evening "
RECORD = json.dumps(
    [{"role": role, "content": f"{nth} {WORDS * 5}"} for nth in range(20) for role in ("user", "assistant")]
)


def records(size):
    return (RECORD for _ in range(size // len(RECORD)))


def map_records(size):
    from curtail import Curtail

    return sum(len(record) for record in Curtail(["limit", "-t", "1k"]).map(records(size)))


def cut_batches(size):
    import pyarrow

    from curtail import Curtail

    curtail = Curtail(["limit", "-t", "1k"])
    rows = 200
    structs = pyarrow.array([json.loads(RECORD)] * rows)
    return sum(
        curtail.batch(pyarrow.RecordBatch.from_arrays([structs], ["messages"])).nbytes
        for _ in range(size // len(RECORD) // rows)
    )


def main():
    if sys.argv[1:2] == ["child"]:
        made = {"records": map_records, "batches": cut_batches}[sys.argv[2]](int(sys.argv[3]))
        print(made, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
        return
    most = int(sys.argv[1]) if sys.argv[1:] else 1600
    for kind in ("records", "batches"):
        for size in (most // 4, most):
            command = [sys.executable, __file__, "child", kind, str(size * 1_000_000)]
            made, peak = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
            print(f"{kind}: {size} MB in, {int(made) // 1_000_000} MB out, peak {peak} MB", flush=True)


if __name__ == "__main__":
    main()
