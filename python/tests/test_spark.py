"""Spark with separate executors, in a classic and a Connect session, writes the same bytes as one process."""

from __future__ import annotations

import glob
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import pytest
from conftest import SITE, chat

from curtail import ArgumentError, Curtail, find_program

pyspark = pytest.importorskip("pyspark")
from pyspark.sql import Observation, SparkSession  # noqa: E402

import curtail.spark as spark_door  # noqa: E402

WINDOW = ["window", "-n", "4"]
CLUSTER = "local-cluster[2,1,1024]"


@pytest.fixture(scope="session", params=["classic", "connect"])
def spark(request):
    """Two executor JVMs. The classic session uses the wheel that is installed on its executors; the other one ships it."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.appName("curtail")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.files.maxPartitionBytes": "1m",
        "spark.sql.files.openCostInBytes": "1m",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "500",
    }.items():
        builder = builder.config(name, value)
    if request.param == "classic":
        session = builder.master(CLUSTER).config("spark.executorEnv.PYTHONPATH", SITE).getOrCreate()
    else:
        # Its server takes a port that is free.
        os.environ["SPARK_TESTING"] = "1"
        session = builder.remote(CLUSTER).getOrCreate()
        spark_door.ship(session)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def conversations(tmp_path_factory):
    """A file of 5,000 conversations with everything that may split lines wrongly, and the output of one process for it."""
    records = [chat(number, 1 + number % 9, ["", "\u2028", "\u0085", "\u2029"][number % 4]) for number in range(5000)]
    for number in range(0, 5000, 10):
        records[number] += b"\r"
    records[1234] = chat(1234, 6, "m" * (1 << 18))
    for number in (0, 17, 17, 4000):
        records.insert(number, b"")
    path = tmp_path_factory.mktemp("data") / "conversations.jsonl"
    path.write_bytes(b"\n".join(records) + b"\n")
    assert max(map(len, records)) > 1 << 20
    return path, subprocess.run([find_program(), *WINDOW, path], capture_output=True, check=True).stdout


def rows(records):
    return [(record.decode() if isinstance(record, bytes) else record,) for record in records]


def test_the_parts_together_are_what_one_process_writes(spark, conversations, tmp_path):
    path, expected = conversations
    df = spark_door.read_transcripts(spark, str(path))
    spark_door.write_transcripts(spark_door.cut(df, WINDOW), str(tmp_path / "out"))
    parts = sorted(glob.glob(str(tmp_path / "out" / "part-*")))
    assert len(parts) > 3
    together = b"".join(open(part, "rb").read() for part in parts)
    assert together != path.read_bytes()
    assert together == expected


def test_seven_partitions_have_the_same_rows(spark, conversations):
    path, expected = conversations
    df = spark_door.read_transcripts(spark, str(path)).repartition(7)
    got = Counter(row.value for row in spark_door.cut(df, WINDOW).collect())
    assert got == Counter(expected.decode().split("\n")[:-1])


def test_a_corrupt_row_raises_with_its_row_its_text_and_the_cause(spark):
    df = spark.createDataFrame(rows([chat(1), chat(2), b'{"messages": [}']), "value string").coalesce(1)
    with pytest.raises(Exception) as caught:
        spark_door.cut(df, WINDOW).collect()
    assert 'row 2 of partition 0: 1:15: expected a JSON value: {"messages": [}' in str(caught.value)


def test_corrupt_rows_are_skipped_and_counted_or_explained(spark):
    records = [chat(1, 6), b"{", None, b"", b"nothing", chat(2, 6)]
    df = spark.createDataFrame(rows(records), "value string").coalesce(2)
    with Curtail(WINDOW) as curtail:
        good = [curtail.one(records[0]).decode(), None, "", curtail.one(records[5]).decode()]
    counted = Observation("curtail")
    done = spark_door.cut(df, WINDOW, on_error="skip", skipped=counted)
    assert done.columns == ["value"]
    assert [row.value for row in done.collect()] == good
    assert counted.get == {"skipped": 2}
    explained = spark_door.cut(df, WINDOW, on_error="column").collect()
    assert [row.value for row in explained] == [good[0], "{", None, "", "nothing", good[3]]
    assert [row.curtail_error is None for row in explained] == [True, False, True, True, False, True]
    assert explained[4].curtail_error == "1:1: expected a JSON value; a transcript is JSON or JSON Lines"


def test_other_columns_and_empty_partitions_stay(spark):
    schema = "id long, chat binary, tag array<string>"
    data = [(7, chat(7, 6), ["a", None]), (8, None, None)]
    df = spark.createDataFrame(data, schema).repartition(5)
    done = spark_door.cut(df, WINDOW, column="chat")
    assert done.schema == df.schema
    got = {row.id: (bytes(row.chat) if row.chat else None, row.tag) for row in done.collect()}
    assert got == {7: (Curtail(WINDOW).one(data[0][1]), ["a", None]), 8: (None, None)}
    assert spark_door.cut(spark.createDataFrame([], schema), WINDOW, column="chat").collect() == []


def log(number):
    return [json.dumps({"role": "user", "content": f"{number}: {nth}"}) for nth in range(9)]


def test_logs_are_cut_whole(spark):
    texts = ["".join(line + "\n" for line in log(number)) for number in range(3)]
    df = spark.createDataFrame(rows([*texts, "", '{"role"}\n']), "value string").coalesce(1)
    done = spark_door.cut(df, ["window", "-n", "2"], framing="lines", on_error="column").collect()
    assert [row.value for row in done[:4]] == ["".join(text.splitlines(keepends=True)[-2:]) for text in texts] + [""]
    assert done[4].curtail_error.startswith("1:")


def test_threads_of_messages_are_cut_in_order(spark):
    lines = [(f"thread {number}", nth, line) for number in range(5) for nth, line in enumerate(log(number))]
    random.Random(7).shuffle(lines)
    df = spark.createDataFrame(lines, "thread string, at int, value string").repartition(3)
    done = spark_door.cut_threads(df, ["window", "-n", "3"], by="thread", order="at").collect()
    got = sorted((row.thread, row.position, row.value) for row in done)
    assert got == [(f"thread {number}", nth, line) for number in range(5) for nth, line in enumerate(log(number)[-3:])]


def test_a_column_without_lines_of_logs_is_refused(spark):
    for kind, value in (("binary", b"{}"), ("array<struct<role:string>>", [("user",)])):
        df = spark.createDataFrame([("a", 1, value)], f"thread string, at int, value {kind}")
        with pytest.raises(ArgumentError, match=f"'value' is of type {kind.partition('<')[0]}"):
            spark_door.cut_threads(df, WINDOW, by="thread", order="at")
    with pytest.raises(ArgumentError, match="'value' is of type array"):
        spark_door.cut(df, WINDOW, framing="lines")
    df = spark.createDataFrame([("a", 1, log(1)[0] + "\n"), ("b", 1, '{\n"role": "user"}')], "thread string, at int, value string")
    assert spark_door.cut_threads(df.where("thread = 'a'"), WINDOW, by="thread", order="at").collect()[0].value == log(1)[0]
    with pytest.raises(Exception, match="log of thread 'b': a row contains a line break"):
        spark_door.cut_threads(df, WINDOW, by="thread", order="at").collect()


def test_a_killed_executor_changes_nothing(spark, conversations, tmp_path):
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        pytest.skip("the executors of both sessions are the same")
    path, expected = conversations

    killed = tmp_path / "killed"

    def slowly(batches):
        # The first task ends; the others are in progress until an executor has been killed.
        from pyspark import TaskContext

        while TaskContext.get().partitionId() > 0 and not killed.exists():
            time.sleep(0.05)
        yield from batches

    df = spark_door.read_transcripts(spark, str(path)).repartition(8)
    done = spark_door.cut(df.mapInArrow(slowly, df.schema), WINDOW)
    got = []
    work = threading.Thread(target=lambda: got.extend(done.collect()))
    work.start()
    tracker = spark.sparkContext.statusTracker()
    while not any(stage_has_begun(tracker.getStageInfo(stage)) for stage in tracker.getActiveStageIds()):
        assert work.is_alive()
        time.sleep(0.05)
    executors = executor_processes()
    assert len(executors) == 2
    os.kill(executors[0], signal.SIGKILL)
    assert work.is_alive()
    killed.touch()
    work.join()
    assert executors[0] not in executor_processes()
    assert Counter(row.value for row in got) == Counter(expected.decode().split("\n")[:-1])


def stage_has_begun(stage):
    return stage is not None and stage.numTasks == 8 and 1 <= stage.numCompletedTasks < 7


def executor_processes():
    """The executor JVMs below this process."""
    parents, executors = {}, []
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            pid = int(stat.split("/")[2])
            parents[pid] = int(open(stat).read().rpartition(")")[2].split()[1])
            if b"CoarseGrainedExecutorBackend" in open(f"/proc/{pid}/cmdline", "rb").read():
                executors.append(pid)
        except OSError:
            continue

    def is_below(pid):
        return pid == os.getpid() or (pid in parents and is_below(parents[pid]))

    return sorted(pid for pid in executors if is_below(pid))


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["memory", "recall"], "keeps state"),
        (["summarize", "--thread", "a", "--store", "s.db"], "--thread keeps state"),
        (["summarize", "--summarizer", "openai"], "--summarizer openai asks a model"),
        (["summarize", "--summarizer=command", "--summarizer-cmd=x"], "asks a model or runs a program"),
        (["window", "-i"], "-i keeps state or writes files"),
        (["window", "-oout"], "no output flag"),
        (["check"], "cuts nothing"),
        (["limit"], "--max-tokens"),
        ("limit -t 8k", "list of words"),
    ],
)
def test_commands_with_other_effects_are_refused_before_a_job_runs(args, words):
    with pytest.raises(ArgumentError, match=words):
        spark_door.cut(None, args)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ('summarizer-cmd = "cat"', "summarizer-cmd asks a model or runs a program"),
        ('summarizer = "openai"\nsummary-model = "m"', "summarizer asks a model"),
        ('summarizer = "anthropic"\nsummary-model = "m"\nendpoint = "http://127.0.0.1:1"', "asks a model"),
    ],
)
def test_a_chain_with_other_effects_is_refused_before_a_job_runs(tmp_path, monkeypatch, key, words):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "sk-none")
    path = tmp_path / "chain.toml"
    path.write_text(f'[[history.processors]]\ntype = "filter"\n\n[[history.processors]]\ntype = "summarize"\n{key}\n')
    with pytest.raises(ArgumentError, match=words) as refused:
        spark_door.cut(None, ["run", "-c", str(path)])
    assert "chain.toml:4" in str(refused.value)
    path.write_text('[[history.processors]]\ntype = "summarize"\nsummarizer = "extractive"\n')
    with pytest.raises(AttributeError):
        # The chain is accepted; there is no data frame.
        spark_door.cut(None, ["run", f"--config={path}"])
