"""In this process: many threads, forks, interrupts, and nothing that stays behind."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import ROOT, SITE, chat

from curtail import Curtail, RecordError

WINDOW = ["window", "-n", "4"]


def test_threads_share_an_instance(chats):
    curtail = Curtail(WINDOW)
    some = chats[5:9]
    expected = [curtail.one(record) for record in some]
    got = [None] * 200

    def work(nth):
        got[nth] = [curtail.one(record) for record in some]

    threads = [threading.Thread(target=work, args=(nth,)) for nth in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [expected] * 200


def test_several_threads_of_one_call_return_the_same(chats):
    records = chats * 4
    assert Curtail(WINDOW, jobs=4).batch({"messages": records}) == Curtail(WINDOW).batch({"messages": records})
    copies = Curtail(["filter", "--drop-records-with", "D003"], jobs=4)
    assert list(copies.map(records, on_error="skip")) == chats


def test_other_threads_run_while_records_are_cut():
    record = chat(1, 400, "word " * 40)
    ticks, begun = [], time.monotonic()
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    curtail = Curtail(["limit", "-t", "100", "--on-overflow", "truncate"])
    # The machine may be busy with something else during one cut.
    while not done.is_set():
        before = len(ticks)
        curtail.one(record)
        if len(ticks) > before + 2 or time.monotonic() > begun + 60:
            done.set()
    thread.join()
    assert time.monotonic() < begun + 60


def work_in_child(nth):
    records = [chat(nth, 1 + number % 9) for number in range(20)]
    return Curtail(["limit", "-t", "100"]).batch({"messages": records})["messages"]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_that_are_forked_while_threads_cut(method):
    expected = [work_in_child(nth) for nth in range(8)]
    stop = threading.Event()
    curtail = Curtail(["limit", "-t", "100"], jobs=2)
    records = [chat(7, 1 + number % 9, "word " * 50) for number in range(40)]

    def cut():
        while not stop.is_set():
            curtail.batch({"messages": records})

    threads = [threading.Thread(target=cut) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        with multiprocessing.get_context(method).Pool(8) as pool:
            assert pool.map_async(work_in_child, range(8)).get(timeout=300) == expected
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_an_interrupt_is_heeded():
    script = """
import sys, threading, os, signal
from curtail import Curtail
record = sys.stdin.read()
curtail = Curtail(["limit", "-t", "60"])
curtail.one(record)
# A shell starts what runs in the background without this signal.
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    while True:
        curtail.batch({"messages": [record] * 2000})
except KeyboardInterrupt:
    print("interrupted", len(curtail.one(record)) > 0)
"""
    environment = {**os.environ, "PYTHONPATH": SITE}
    done = subprocess.run(
        [sys.executable, "-c", script], input=chat(1, 9).decode(), env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "interrupted True\n", done.stderr


@pytest.mark.parametrize("program", ["", "/nowhere/curtail"])
def test_a_chain_with_a_chat_template_starts_the_program_and_never_the_interpreter(program, tmp_path):
    (tmp_path / "__render").write_text("open('started', 'w')")
    template = ROOT / "fixtures" / "templates" / "chat_template.jinja"
    (tmp_path / "t.toml").write_text(f'[[history.processors]]\ntype = "limit"\nmax-tokens = 9000\ntemplate = "{template}"\n')
    script = """
from curtail import ArgumentError, Curtail
try:
    print(Curtail(["run", "-c", "t.toml"]).one('[{"role":"user","content":"a"}]'))
except ArgumentError as error:
    print(error)
"""
    environment = {**os.environ, "PYTHONPATH": SITE, "CURTAIL_PROGRAM": program}
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert not (tmp_path / "started").exists()
    assert ("CURTAIL_PROGRAM" if program else '"content":"a"') in done.stdout, done.stderr


def test_an_error_of_the_source_of_records_is_raised(chats):
    def source():
        yield from chats[:3]
        raise LookupError("gone")

    answers = Curtail(WINDOW).map(source(), ahead=1)
    assert [next(answers) for _ in range(3)]
    with pytest.raises(LookupError, match="gone"):
        next(answers)
    with pytest.raises(StopIteration):
        next(answers)

    class Broken(dict):
        def __len__(self):
            raise LookupError("broken")

        def items(self):
            raise LookupError("broken")

    for value in ({"messages": [{"role": "user", "content": object()}]}, Broken(a=object())):
        with pytest.raises(RecordError, match="not JSON"):
            Curtail(WINDOW).one(value)


def test_a_value_that_contains_itself_is_an_error():
    record = {"messages": [{"role": "user", "content": "a"}]}
    record["self"] = record
    with pytest.raises(RecordError, match="contains itself"):
        Curtail(WINDOW).one(record)


def test_nothing_stays_behind():
    messages = [{"role": role, "content": "word"} for role in ("user", "assistant", "user")]
    text = json.dumps(messages)

    def work(count):
        for number in range(count):
            curtail = Curtail(["window", "-n", str(1 + number % 3)])
            curtail.batch({"messages": [[dict(message) for message in messages] for _ in range(10)]})
            curtail.one(messages)
            with pytest.raises(RecordError):
                curtail.one(text[:-1])

    work(50)
    gc.collect()
    before, references = resident(), sys.getrefcount(messages[2])
    work(1000)
    gc.collect()
    # Not inside the assertion, which pytest makes hold what it names.
    after, left = resident(), sys.getrefcount(messages[2])
    assert left == references
    assert after - before < 20_000_000


def resident():
    """The memory of this process, in bytes."""
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize()
    except FileNotFoundError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def test_a_signal_handler_runs_between_records():
    seen, begun = [], time.monotonic()
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    curtail = Curtail(["limit", "-t", "200"])
    records = [chat(nth, 30, "word " * 20) for nth in range(300)]
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
        # A handler that had to wait for the end of a call would run once before it and once after it.
        while len(seen) <= 2 and time.monotonic() < begun + 60:
            seen.clear()
            curtail.batch({"messages": records})
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(seen) > 2
