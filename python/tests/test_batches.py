"""Batches of mappings, of Arrow, and of the libraries that pass them."""

from __future__ import annotations

import datetime
import json

import pyarrow
import pytest

from curtail import ArgumentError, Curtail, RecordError

WINDOW = ["window", "-n", "4"]


@pytest.fixture(scope="module")
def curtail():
    with Curtail(WINDOW) as curtail:
        yield curtail


def test_other_columns_of_a_mapping_stay(curtail, objects):
    names = [object() for _ in objects]
    batch = {"id": names, "messages": [value["messages"] for value in objects]}
    done = curtail.batch(batch)
    assert list(done) == ["id", "messages"] and done["id"] is names
    assert done["messages"] == [curtail.one(value)["messages"] for value in objects]
    with pytest.raises(KeyError, match="no column 'chat'; the batch has 'id', 'messages'"):
        curtail.batch(batch, column="chat")
    with pytest.raises(TypeError, match="to_arrow"):
        curtail.batch([batch])


def test_rows_that_fail(curtail, chats):
    batch = {"id": [0, 1, 2], "messages": [chats[8], b"{", chats[7]]}
    with pytest.raises(RecordError) as caught:
        curtail.batch(batch)
    assert caught.value.index == 1
    assert curtail.batch(batch, on_error="skip") == {"id": [0, 2], "messages": [curtail.one(chats[8]), curtail.one(chats[7])]}
    assert curtail.batch(batch, on_error="keep")["messages"][1] == b"{"
    with pytest.raises(ArgumentError):
        curtail.batch(batch, on_error="return")


@pytest.mark.parametrize(
    "kind",
    [
        pyarrow.string(),
        pyarrow.large_string(),
        pyarrow.string_view(),
        pyarrow.binary(),
        pyarrow.large_binary(),
        pyarrow.dictionary(pyarrow.int32(), pyarrow.string()),
    ],
    ids=str,
)
def test_tables_keep_everything_but_the_column(curtail, chats, kind):
    values = [None, chats[8].decode(), "", *(record.decode() for record in chats)]
    plain = pyarrow.array(values, pyarrow.binary() if "binary" in str(kind) else pyarrow.string())
    field = pyarrow.field("messages", kind, metadata={"a": "b"})
    schema = pyarrow.schema([pyarrow.field("id", pyarrow.int8()), field], metadata={"huggingface": "{}"})
    table = pyarrow.Table.from_arrays([pyarrow.array(range(len(values)), pyarrow.int8()), plain.cast(kind)], schema=schema)
    table = pyarrow.concat_tables([table.slice(0, 7), table.slice(7)])
    done = curtail.batch(table)
    assert done.schema.equals(table.schema, check_metadata=True)
    assert done.column("id").equals(table.column("id"))
    cut = done.column("messages").to_pylist()
    assert [value.decode() if isinstance(value, bytes) else value for value in cut] == list(curtail.map(values))
    for batch in table.to_batches():
        assert isinstance(curtail.batch(batch), pyarrow.RecordBatch)
        assert curtail.batch(batch).schema.equals(batch.schema, check_metadata=True)


def test_columns_of_structs_are_objects(curtail, objects):
    table = pyarrow.table({"id": list(range(40)), "messages": [value["messages"] for value in objects]})
    done = curtail.batch(table)
    assert done.schema == table.schema
    expected = curtail.batch({"messages": table.column("messages").to_pylist()})["messages"]
    assert done.column("messages").to_pylist() == expected != table.column("messages").to_pylist()


def test_rows_of_tables_that_fail(curtail, chats):
    table = pyarrow.table({"id": [0, 1, 2, 3], "messages": [chats[8], None, b"{", chats[7]]})
    table = pyarrow.concat_tables([table.slice(0, 2), table.slice(2)])
    with pytest.raises(RecordError, match="record 2, column 1"):
        curtail.batch(table)
    done = curtail.batch(table, on_error="skip")
    assert done.column("id").to_pylist() == [0, 1, 3]
    assert done.column("messages").to_pylist() == [curtail.one(chats[8]), None, curtail.one(chats[7])]
    batch = table.combine_chunks().to_batches()[0]
    assert curtail.batch(batch, on_error="skip").column("id").to_pylist() == [0, 1, 3]
    empty = table.slice(0, 0)
    assert curtail.batch(empty).equals(empty)


def test_columns_of_numpy(curtail, objects):
    numpy = pytest.importorskip("numpy")
    messages = numpy.empty(40, dtype=object)
    for index, value in enumerate(objects):
        messages[index] = numpy.array(value["messages"], dtype=object)
    done = curtail.batch({"id": numpy.arange(40), "messages": messages})
    assert isinstance(done["messages"], numpy.ndarray)
    assert list(done["messages"]) == [curtail.one(value)["messages"] for value in objects]
    failing = numpy.array(["{", json.dumps(objects[8])], dtype=object)
    assert list(curtail.batch({"id": numpy.arange(2), "messages": failing}, on_error="skip")["id"]) == [1]


def test_nulls_that_arrow_fills_in_are_not_sent(chats):
    """A struct has every key of the column, so a count of its nulls would depend on the other rows."""
    table = pyarrow.Table.from_pylist([{**json.loads(chat), "other": None} for chat in chats])
    messages = table.column("messages").to_pylist()
    assert any(None in message.values() for chat in messages for message in chat)
    with Curtail(["limit", "-t", "40"]) as limit:
        whole = [limit.one(json.loads(chat))["messages"] for chat in chats]
        rows = limit.batch(table).column("messages").to_pylist()
        mapped = limit.batch({"messages": messages})["messages"]
    texts = [[message["content"] for message in chat] for chat in whole]
    assert [[message["content"] for message in chat] for chat in rows] == texts
    assert mapped == rows
    calls = [{"role": "assistant", "tool_calls": [{"id": "c", "name": "f", "arguments": {"a": 1, "b": None}}]}]
    done = []
    with Curtail(["limit", "-t", "12"]) as limit:
        for call in (calls, [{**calls[0], "tool_calls": [{**calls[0]["tool_calls"][0], "arguments": {"a": 1}}]}]):
            call = [{"role": "user", "content": "one two three"}, {"role": "assistant", "content": "four"}, *call]
            done.append(len(limit.batch({"messages": [call]})["messages"][0]))
    assert done[0] == done[1]


def test_times_are_read_and_return():
    at = datetime.datetime(2026, 3, 2, 9, 0, 6)
    chat = [{"role": role, "content": "word " * 9, "created_at": at} for role in ["user", "assistant"] * 4]
    with Curtail(["window", "-n", "2"]) as window:
        assert window.batch({"messages": [chat]}) == {"messages": [chat[-2:]]}
        assert window.batch(pyarrow.table({"messages": [chat]})).to_pylist() == [{"messages": chat[-2:]}]
    with Curtail(["summarize", "-n", "2"]) as summarize:
        done = summarize.one(chat)
        assert done[-1] == chat[-1] and done[0].get("created_at") is None


def test_a_field_that_the_column_lacks_is_an_error_and_not_lost():
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    chat = [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [call]}, {"role": "user", "content": "y"}]
    table = pyarrow.Table.from_pylist([{"messages": [{**chat[0], "tool_calls": None}]}, {"messages": chat}])
    with Curtail(["repair", "--mode", "stub"]) as repair:
        with pytest.raises(RecordError, match="no field 'tool_call_id'") as caught:
            repair.batch(table)
        assert caught.value.index == 1
        chat[0]["tool_call_id"] = ""
        wider = pyarrow.Table.from_pylist([{"messages": [{**message, "tool_call_id": None} for message in chat]}])
        stub = repair.batch(wider.set_column(0, "messages", pyarrow.array([chat]))).to_pylist()[0]["messages"][2]
    assert stub["tool_call_id"] == "a"
