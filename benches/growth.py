"""Measures how time and memory grow with the input: twice the input should take twice as long. Nothing is asserted.

    cargo build --release
    python3 benches/growth.py target/release/curtail [MESSAGES]

Each command is timed three times for each of four sizes, and the fastest run is used; the quotient is that of the last two sizes.
`tests/it/growth.rs` asserts the same of counted steps, which do not depend on the machine.
"""

import os
import subprocess
import sys
import tempfile
import time

ROUND = '{"role":"user","content":"x"}\n{"role":"assistant","content":"y"}\n'
RECORD = '{"messages":[{"role":"user","content":"one"}]}'
CALL = '{"id":"c%d","type":"function","function":{"name":"f","arguments":"{}"}}'


def rounds(count):
    return ROUND * (count // 2)


def document(count):
    return "[" + ",".join([RECORD] * count) + "]\n"


def calls(count):
    made = ",".join(CALL % nth for nth in range(count))
    answered = "".join('{"role":"tool","tool_call_id":"c%d","content":"ok"}\n' % nth for nth in range(count))
    return '{"role":"user","content":"go"}\n{"role":"assistant","content":"ok","tool_calls":[%s]}\n%s' % (made, answered)


CASES = [
    ("window", ["window", "-n", "3"], rounds),
    ("limit", ["limit", "-t", "30"], rounds),
    ("filter of calls", ["filter", "-x", "f", "--persist-results"], calls),
    ("check of calls", ["check", "--exit-zero", "-q"], calls),
    ("repair of calls", ["repair"], calls),
    ("replay", ["replay"], rounds),
    ("split of a list", ["split", "-t", "100", "-o", "out.jsonl", "--force"], document),
    ("view of a list", ["view", "-o", "out.html", "--force"], document),
    ("count of a list", ["count", "--by", "transcript", "--top", "3"], document),
]


def measured(program, arguments, folder):
    """Seconds and megabytes of a run."""
    begun = time.perf_counter()
    child = subprocess.Popen([program, *arguments, "in.jsonl"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        sys.exit(f"growth.py: curtail {' '.join(arguments)} fails; run it to see why")
    return time.perf_counter() - begun, used.ru_maxrss / 1024


def main():
    program, most = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 16_000
    sizes = [most // 8, most // 4, most // 2, most]
    print("| command | " + " | ".join(f"{size:,}" for size in sizes) + " | quotient | MB |")
    print("|---|" + "---|" * (len(sizes) + 2))
    for name, arguments, make in CASES:
        seconds, memory = [], 0
        with tempfile.TemporaryDirectory() as folder:
            for size in sizes:
                with open(os.path.join(folder, "in.jsonl"), "w") as file:
                    file.write(make(size))
                runs = [measured(program, arguments, folder) for _ in range(3)]
                seconds.append(min(run[0] for run in runs))
                memory = max(run[1] for run in runs)
        row = " | ".join(f"{value:.3f} s" for value in seconds)
        print(f"| {name} | {row} | {seconds[-1] / seconds[-2]:.1f} | {memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()
