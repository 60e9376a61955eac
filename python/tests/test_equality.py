"""Every policy on every shape: text, objects, tables of texts and tables of structs are cut as the program cuts the file."""

from __future__ import annotations

import datetime
import decimal
import json

import pyarrow
import pytest
from conftest import texts_of
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


VALUES_OF_TABLES = {
    "at": (datetime.datetime(2026, 3, 2, 9, 0, 6, 500), pyarrow.timestamp("us")),
    "zoned": (datetime.datetime(2026, 3, 2, 9, tzinfo=datetime.timezone.utc), pyarrow.timestamp("ms", "UTC")),
    "day": (datetime.date(2026, 3, 2), pyarrow.date32()),
    "clock": (datetime.time(9, 0, 6), pyarrow.time64("us")),
    "took": (datetime.timedelta(days=2, seconds=90), pyarrow.duration("ms")),
    "price": (decimal.Decimal("12.50"), pyarrow.decimal128(10, 2)),
    "score": (0.5, pyarrow.float16()),
    "odd": (float("inf"), pyarrow.float64()),
    "grade": ("b", pyarrow.dictionary(pyarrow.int32(), pyarrow.string())),
    "image": (b"\x89PNG", pyarrow.binary()),
    "seen": ([1, None, 200], pyarrow.list_(pyarrow.uint8())),
    "tags": ([("a", 1), ("b", None)], pyarrow.map_(pyarrow.string(), pyarrow.int32())),
}


def table_of(rows, **fields):
    """A table of rows of chats, in which messages have these fields as well."""
    plain = [row and [{key: message[key] for key in message if key not in fields} for message in row] for row in rows]
    kind = pyarrow.array([*plain, rounds(1)] if not any(rows) else plain).type.value_type
    message = pyarrow.struct([*(kind.field(nth) for nth in range(kind.num_fields)), *(pyarrow.field(*each) for each in fields.items())])
    column = pyarrow.array(rows, pyarrow.list_(message))
    return pyarrow.table({"id": list(range(len(rows))), "messages": column})


def with_values(rows):
    values = {name: value for name, (value, _) in VALUES_OF_TABLES.items()}
    filled = [[{**message, **values} if nth % 2 else message for nth, message in enumerate(row)] for row in rows]
    return table_of(filled, **{name: kind for name, (_, kind) in VALUES_OF_TABLES.items()})


def cast(table, field, kind):
    """The table with another type of one of the fields of messages."""
    message = table.schema.field("messages").type.value_type
    fields = [message.field(nth) for nth in range(message.num_fields)]
    fields = [each.with_type(kind) if each.name == field else each for each in fields]
    column = pyarrow.array(table.column("messages").to_pylist(), pyarrow.list_(pyarrow.struct(fields)))
    return table.set_column(1, "messages", column)


def large(table):
    message = table.schema.field("messages").type.value_type
    return table.cast(pyarrow.schema([table.field(0), ("messages", pyarrow.large_list(message))]))


TABLES = {
    **{shape: table_of(rows) for shape, rows in SHAPES.items()},
    "nulls": table_of([None, *SHAPES["texts"], None, [{"role": "user", "content": None}], None]),
    "dictionaries": cast(table_of(SHAPES["texts"]), "role", pyarrow.dictionary(pyarrow.int8(), pyarrow.string())),
    "large lists": large(table_of(SHAPES["parts"])),
    "no rows": table_of([]),
    "tiny rows": table_of([[{"role": "user", "content": str(nth)}] * (4 * (nth % 2)) for nth in range(2000)]),
    "values": with_values(SHAPES["texts"]),
}


@pytest.mark.parametrize("shape", TABLES)
@pytest.mark.parametrize("policy", POLICIES)
def test_tables_of_structs(policy, shape, run, tmp_path):
    words, table = POLICIES[policy], TABLES[shape]
    cut = Curtail(words).batch(table, on_error="keep")
    cut.validate(full=True)
    assert cut.schema.equals(table.schema)
    parquet.write_table(table, tmp_path / "old.parquet", row_group_size=25, compression="zstd")
    with ipc.new_file(tmp_path / "old.arrow", table.schema, options=ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table, max_chunksize=25)
    done = run(*words, "--column", "messages", "--on-error", "keep", str(tmp_path), "-O", str(tmp_path / "new"))
    assert done.returncode == 0, done.stderr
    texts = [repr(row) for row in cut.to_pylist()]
    # The type of durations is Arrow's.
    assert [repr(row) for row in parquet.read_table(tmp_path / "new" / "old.parquet").to_pylist()] == texts
    arrow = ipc.open_file(tmp_path / "new" / "old.arrow").read_all()
    arrow.validate(full=True)
    assert [repr(row) for row in arrow.to_pylist()] == texts
    if shape != "values":
        # The same as objects, without the nulls that the table has for missing keys.
        objects = Curtail(words).batch({"messages": table.column("messages").to_pylist()}, on_error="keep")["messages"]
        assert [texts_of(row) for row in cut.column("messages").to_pylist()] == [texts_of(row) for row in objects]
