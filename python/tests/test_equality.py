"""Every policy on every shape: text, objects, tables of texts and tables of structs are cut as the program cuts the file."""

from __future__ import annotations

import datetime
import decimal
import json

import pyarrow
import pytest
from pyarrow import ipc, parquet

from curtail import Curtail

POLICIES = {
    "window": ["window", "-n", "3"],
    "sliding": ["window", "-n", "4", "--strategy", "sliding", "--pin", "first-user"],
    "limit": ["limit", "-t", "90"],
    "truncate": ["limit", "-t", "60", "--on-overflow", "truncate"],
    "half": ["limit", "-t", "50%", "--step", "20"],
    "no tools": ["filter", "-x", "*"],
    "clear": ["filter", "--keep-last-results", "1"],
    "cap": ["filter", "--cap-result", "40"],
    "repair": ["repair", "--mode", "stub"],
    "summarize": ["summarize", "-n", "2"],
    "chain": ["window", "-n", "6", "--repair", "drop"],
}

CALL = {"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"where": "there"}'}}
LONG = "word number " * 30


def rounds(count, *, said=lambda text: text, **extra):
    chat = [{"role": "system", "content": said("be brief")}]
    for turn in range(count):
        call = {**CALL, "id": f"c{turn}"}
        chat += [
            {"role": "user", "content": said(f"question {turn}"), **extra},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{turn}", "content": said(f"{LONG}{turn}")},
            {"role": "assistant", "content": said(f"answer {turn}")},
        ]
    return chat


def anthropic(count):
    chat = []
    for turn in range(count):
        use = {"type": "tool_use", "id": f"c{turn}", "name": "look", "input": {"deep": [{"a": [1, 2.5, None, True]}]}}
        chat += [
            {"role": "user", "content": [{"type": "text", "text": f"question {turn}"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "I look."}, use]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"c{turn}", "content": LONG}]},
            {"role": "assistant", "content": [{"type": "text", "text": f"answer {turn}"}]},
        ]
    return chat


SHAPES = {
    "texts": [rounds(count) for count in range(1, 6)],
    "parts": [rounds(count, said=lambda text: [{"type": "text", "text": text}]) for count in range(1, 6)],
    "nested": [anthropic(count) for count in range(1, 6)],
    "extra keys": [rounds(count, name="someone", weight=0.25, tags=["a"], more={"b": [1]}) for count in range(1, 6)],
    "unicode": [rounds(3, said=lambda text: f"\u00e9\u4f60\U0001f600 \u2028 \"{text}\" \\ \t\x7f")] * 3,
    "broken pairs": [rounds(3)[:-2], rounds(3)[4:], rounds(2) + rounds(1)[3:]],
    "no call": [[{"role": "user", "content": str(nth)}, {"role": "assistant", "content": LONG}] * 4 for nth in range(4)],
    "one message": [[{"role": "user", "content": "a"}]] * 3,
    "empty": [[], rounds(2), []],
    "many": [rounds(1 + nth % 3) for nth in range(60)],
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("policy", POLICIES)
def test_texts_and_objects(policy, shape, run):
    words = POLICIES[policy]
    for wrap in (lambda chat, _: chat, lambda chat, nth: {"id": nth, "messages": chat, "after": {"x": nth}}):
        records = [wrap(chat, nth) for nth, chat in enumerate(SHAPES[shape])]
        lines = [json.dumps(record, ensure_ascii=False, separators=(",", ":")) for record in records]
        done = run(*words, "--framing", "records", "--on-error", "keep", data="".join(f"{line}\n" for line in lines).encode())
        expected = done.stdout.decode().split("\n")[:-1]
        assert list(Curtail(words).map(lines, on_error="keep")) == expected
        assert list(Curtail(words, jobs=2).map([line.encode() for line in lines], on_error="keep")) == [
            line.encode() for line in expected
        ]
        cut = list(Curtail(words).map(records, on_error="keep"))
        assert cut == [json.loads(line) for line in expected]
        for record, line, answer, text in zip(records, lines, cut, expected):
            assert (answer is record) == (line == text)


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "binary"])
@pytest.mark.parametrize("policy", POLICIES)
def test_tables_of_texts(policy, kind, run, tmp_path):
    words = POLICIES[policy]
    texts = [None if nth % 5 == 4 else json.dumps(chat) for nth, chat in enumerate(SHAPES["many"][:40])]
    column = pyarrow.array([text and text.encode() for text in texts], pyarrow.binary()).cast(getattr(pyarrow, kind)())
    table = pyarrow.table({"id": list(range(40)), "chat": column})
    table = pyarrow.concat_tables([table.slice(3, 20), table.slice(23)])
    old, new = tmp_path / "old.arrow", tmp_path / "new.arrow"
    with ipc.new_file(old, table.schema) as writer:
        writer.write_table(table)
    done = run(*words, "--column", "chat", "--on-error", "keep", str(old), "-o", str(new))
    assert done.returncode == 0, done.stderr
    wanted = ipc.open_file(new).read_all()
    cut = Curtail(words).batch(table, column="chat", on_error="keep")
    cut.validate(full=True)
    assert cut.equals(wanted) and cut.schema.equals(table.schema)


@pytest.mark.parametrize("shape", ["texts", "parts", "nested", "extra keys", "no call", "many"])
@pytest.mark.parametrize("policy", ["window", "sliding", "limit", "half"])
def test_tables_of_structs(policy, shape, run, tmp_path):
    words = POLICIES[policy]
    table = pyarrow.table({"id": list(range(len(SHAPES[shape]))), "messages": SHAPES[shape]})
    for large in (False, True):
        if large:
            kind = pyarrow.large_list(table.field(1).type.value_type)
            table = table.cast(pyarrow.schema([table.field(0), ("messages", kind)]))
        old, new = tmp_path / f"old-{large}.parquet", tmp_path / f"new-{large}.parquet"
        parquet.write_table(table, old, row_group_size=25)
        done = run(*words, "--column", "messages", "--on-error", "keep", str(old), "-o", str(new))
        assert done.returncode == 0, done.stderr
        cut = Curtail(words).batch(table, on_error="keep")
        cut.validate(full=True)
        assert cut.to_pylist() == parquet.read_table(new).to_pylist()
        # The same as objects, without the nulls that the table has for missing keys.
        objects = Curtail(words).batch({"messages": table.column("messages").to_pylist()}, on_error="keep")
        assert cut.column("messages").to_pylist() == objects["messages"]


VALUES = {
    "timestamp": [datetime.datetime(2026, 3, 2, 9, 0, 6, 500), pyarrow.timestamp("us")],
    "zoned": [datetime.datetime(2026, 3, 2, 9, tzinfo=datetime.timezone.utc), pyarrow.timestamp("ms", "UTC")],
    "date": [datetime.date(2026, 3, 2), pyarrow.date32()],
    "time": [datetime.time(9, 0, 6), pyarrow.time64("us")],
    "duration": [datetime.timedelta(days=2, seconds=90), pyarrow.duration("s")],
    "decimal": [decimal.Decimal("12.50"), pyarrow.decimal128(10, 2)],
    "float16": [0.5, pyarrow.float16()],
    "dictionary": ["b", pyarrow.dictionary(pyarrow.int32(), pyarrow.string())],
    "binary": [b"\x89PNG", pyarrow.binary()],
    "interval": [pyarrow.MonthDayNano([1, 2, 3]), pyarrow.month_day_nano_interval()],
}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("policy", ["window", "limit", "summarize", "clear"])
def test_columns_of_values_that_json_lacks(policy, value):
    thing, kind = VALUES[value]
    if value == "interval":
        thing = None if policy == "summarize" else thing
    message = pyarrow.struct({"role": pyarrow.string(), "content": pyarrow.string(), "thing": kind})
    chat = [{"role": role, "content": LONG, "thing": thing if nth % 2 else None} for nth, role in enumerate(["user", "assistant"] * 6)]
    try:
        column = pyarrow.array([chat, None, chat[:3]], pyarrow.list_(message))
    except (pyarrow.ArrowNotImplementedError, TypeError):
        pytest.skip("pyarrow makes no such column of values")
    table = pyarrow.table({"messages": column})
    cut = Curtail(POLICIES[policy]).batch(table, on_error="keep")
    cut.validate(full=True)
    assert cut.schema == table.schema
    rows = cut.column("messages").to_pylist()
    assert rows[1] is None and rows[0][-1] == table.column("messages").to_pylist()[0][-1]
