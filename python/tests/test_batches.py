"""Batches of mappings, of Arrow, and of the libraries that pass them."""

from __future__ import annotations

import datetime
import decimal
import json

import pyarrow
import pytest
from conftest import texts_of

import curtail as package
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
    with pytest.raises(RecordError, match="record 2, column 2"):
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
    text = json.dumps(objects[8])
    for texts, kept in ((numpy.array([text]), curtail.one(text)), (numpy.array([text.encode()]), curtail.one(text.encode()))):
        assert list(curtail.batch({"messages": texts})["messages"]) == [kept]


def test_columns_of_pandas_have_positions_beside_their_index(curtail, objects):
    pandas = pytest.importorskip("pandas")
    columns = {"id": [1, 2, 3], "messages": [json.dumps(objects[8]), "{", json.dumps(objects[7])]}
    batch = {name: pandas.Series(values, index=[7, 8, 9]) for name, values in columns.items()}
    done = curtail.batch(batch, on_error="skip")
    assert list(done["id"]) == [1, 3] and list(done["messages"]) == [curtail.one(columns["messages"][at]) for at in (0, 2)]


def test_list_views_are_refused_and_not_left_uncut(curtail, objects):
    message = pyarrow.struct({"role": pyarrow.string(), "content": pyarrow.string()})
    for rows in (objects[8:9], objects[7:9]):
        column = pyarrow.array([row["messages"] for row in rows], pyarrow.list_view(message))
        with pytest.raises(RecordError, match="no JSON form"):
            curtail.batch(pyarrow.table({"messages": column}))


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


VALUES = [
    datetime.datetime(2026, 3, 2, 9, 0, 6),
    datetime.date(2026, 3, 2),
    datetime.time(9, 0, 6),
    datetime.timedelta(seconds=90),
    decimal.Decimal("12.50"),
    b"text",
    b"\x89PNG",
    float("nan"),
    float("inf"),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_that_json_lacks_are_read_and_return(value):
    chat = [{"role": role, "content": "word " * 9, "extra": {"one": value, "all": [value]}} for role in ["user", "assistant"] * 4]
    table = pyarrow.table({"messages": [chat]})
    with Curtail(["window", "-n", "2"]) as window:
        assert repr(window.batch({"messages": [chat]})) == repr({"messages": [chat[-2:]]})
        assert repr(window.batch(table).to_pylist()) == repr([{"messages": chat[-2:]}])
    with Curtail(["summarize", "-n", "2"]) as summarize:
        for done in (summarize.batch({"messages": [chat]})["messages"][0], summarize.batch(table).to_pylist()[0]["messages"]):
            assert repr(done[-1]) == repr(chat[-1]) and done[0].get("extra") is None


def test_numbers_of_numpy_are_read():
    numpy = pytest.importorskip("numpy")
    chat = [{"role": role, "content": "word " * 9, "weight": numpy.float32(0.5)} for role in ["user", "assistant"] * 4]
    with Curtail(["window", "-n", "2"]) as window:
        assert window.batch({"messages": [chat]}) == {"messages": [chat[-2:]]}


def test_a_field_that_the_column_lacks_is_an_error_and_not_lost():
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    chat = [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [call]}, {"role": "user", "content": "y"}]
    table = pyarrow.Table.from_pylist([{"messages": [{**chat[0], "tool_calls": None}]}, {"messages": chat}])
    with Curtail(["repair", "--mode", "stub"]) as repair:
        with pytest.raises(RecordError, match="no field `tool_call_id`") as caught:
            repair.batch(table)
        assert caught.value.index == 1
        chat[0]["tool_call_id"] = ""
        wider = pyarrow.Table.from_pylist([{"messages": [{**message, "tool_call_id": None} for message in chat]}])
        stub = repair.batch(wider.set_column(0, "messages", pyarrow.array([chat]))).to_pylist()[0]["messages"][2]
    assert stub["tool_call_id"] == "a"


LONG = "word number " * 200


def rounds(call, result, text="text", own="text"):
    """Four rounds of question, call, result and answer, with lists of parts."""
    chat = []
    for turn in range(4):
        chat += [
            {"role": "user", "content": [{"type": text, "text": f"question {turn}"}]},
            call(f"c{turn}"),
            result(f"c{turn}", f"{LONG}{turn}"),
            {"role": "assistant", "content": [{"type": own, "text": f"answer {turn}"}]},
        ]
    return chat


def openai(nth):
    return {"role": "assistant", "tool_calls": [{"id": nth, "type": "function", "function": {"name": "f", "arguments": "{}"}}]}


def anthropic(nth):
    return {"role": "assistant", "content": [{"type": "tool_use", "id": nth, "name": "f", "input": {"q": nth}}]}


CHATS = {
    "openai": rounds(
        openai, lambda nth, found: {"role": "tool", "tool_call_id": nth, "content": [{"type": "text", "text": found}]}
    ),
    "anthropic": rounds(
        anthropic,
        lambda nth, found: {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": nth, "content": [{"type": "text", "text": found}]}],
        },
    ),
    "responses": rounds(
        lambda nth: {"type": "function_call", "call_id": nth, "name": "f", "arguments": "{}"},
        lambda nth, found: {"type": "function_call_output", "call_id": nth, "output": found},
        "input_text",
        "output_text",
    ),
}


@pytest.mark.parametrize("chat", CHATS.values(), ids=CHATS)
@pytest.mark.parametrize(
    "words",
    [
        ["filter", "--keep-last-results", "1"],
        ["filter", "--cap-result", "40"],
        ["filter", "--persist-results"],
        ["summarize", "-n", "2"],
        ["limit", "-t", "700", "--on-overflow", "truncate"],
        ["repair", "--mode", "stub"],
    ],
    ids=" ".join,
)
def test_every_cut_fits_a_column_of_structs(chat, words):
    table = pyarrow.table({"messages": [chat, chat[:9]]})
    with Curtail(words) as curtail:
        done = curtail.batch(table)
        wanted = curtail.batch({"messages": table.column("messages").to_pylist()})["messages"]
    assert done.schema == table.schema
    done = done.column("messages").to_pylist()
    assert [[texts_of(message) for message in row] for row in done] == [
        [texts_of(message) for message in row] for row in wanted
    ]
    with Curtail(["check", "--strict"]) as curtail:
        found = [curtail.check_all([without_nulls(row) for row in rows]) for rows in (done, wanted)]
    codes, expected = [[[finding.code for finding in row] for row in rows] for rows in found]
    assert codes == expected


def without_nulls(value):
    if isinstance(value, dict):
        return {key: without_nulls(member) for key, member in value.items() if member is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def test_a_text_becomes_a_part_as_the_column_names_it():
    made = {}
    for name, chat in CHATS.items():
        with Curtail(["filter", "--persist-results"]) as curtail:
            made[name] = curtail.batch(pyarrow.table({"messages": [chat]})).column("messages").to_pylist()[0]
    notes = {name: next(m for m in chat if "Used" in str(m) or "used" in str(m)) for name, chat in made.items()}
    assert [[part["type"] for part in note["content"]] for note in notes.values()] == [["text"], ["text"], ["output_text"]]


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("words", [WINDOW, ["limit", "-t", "900"], ["filter", "--keep-last-results", "1"]], ids=" ".join)
def test_columns_of_structs_are_cut_as_objects(words, large):
    for chat in CHATS.values():
        rows = [chat, None, chat[:9], [], *[chat[: 4 * nth] for nth in range(1, 5)] * 4]
        table = pyarrow.table({"id": list(range(len(rows))), "messages": rows})
        if large:
            table = table.cast(pyarrow.schema([table.field(0), ("messages", pyarrow.large_list(table.field(1).type.value_type))]))
        table = pyarrow.concat_tables([table.slice(0, 9), table.slice(9)])
        curtail = Curtail(words)
        wanted = curtail.batch({"messages": table.column("messages").to_pylist()})["messages"]
        done = curtail.batch(table)
        batch = curtail.batch(table.combine_chunks().to_batches()[0])
        done.validate(full=True)
        assert done.schema == table.schema and isinstance(batch, pyarrow.RecordBatch)
        assert batch.to_pylist() == done.to_pylist()
        texts = [None if row is None else [texts_of(message) for message in row] for row in wanted]
        cut = done.column("messages").to_pylist()
        assert [None if row is None else [texts_of(message) for message in row] for row in cut] == texts


def test_a_wrong_call_is_told_what_to_write(curtail, chats, objects):
    messages = objects[0]["messages"]
    for values in (messages, chats[0].decode()):
        with pytest.raises(TypeError, match="batched=True"):
            curtail.batch({"id": 1, "messages": values})
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="from_pandas"):
        curtail.batch(pandas.DataFrame({"messages": [messages]}))
    with pytest.raises(KeyError, match="column='text'"):
        curtail.batch({"text": [chats[0]]})
    with pytest.raises(TypeError, match=r"with map\(\)"):
        curtail.batch([messages])
    for value in ("chats.jsonl", b"[]", objects[0]):
        with pytest.raises(TypeError, match="open file"):
            list(curtail.map(value))
    with pytest.raises(ArgumentError, match="list of lists"):
        package.window([messages, messages], 2)
    with pytest.raises(ArgumentError, match="--max-tokens") as refused:
        Curtail(["split"])
    assert "Usage" not in str(refused.value)


def test_rows_of_datasets_are_records(curtail, objects):
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_list(objects)
    wanted = [curtail.one(row)["messages"] for row in rows]
    assert rows.map(curtail.one)["messages"] == wanted != rows["messages"]


def test_a_row_that_is_split_becomes_several(chats):
    split = Curtail(["split", "-t", "60"])
    windows = [split.one(chat) for chat in chats]
    assert max(map(len, windows)) > 1
    rows = [(number, window) for number, cut in enumerate(windows) for window in cut]
    done = split.batch({"id": list(range(40)), "messages": chats})
    assert list(zip(done["id"], done["messages"])) == rows
    table = split.batch(pyarrow.table({"id": list(range(40)), "messages": chats}))
    assert list(zip(table.column("id").to_pylist(), table.column("messages").to_pylist())) == rows
    assert list(split.map(chats)) == [window for _, window in rows]
    objects = split.batch(pyarrow.table({"id": list(range(40)), "messages": [json.loads(chat)["messages"] for chat in chats]}))
    assert objects.column("id").to_pylist() == [number for number, _ in rows]


def test_a_row_of_a_large_column_that_fails_is_named():
    chats = [[{"role": "user", "content": LONG}, {"role": "assistant", "content": LONG}] * 4] * 60
    chats[41] = [{"role": "user", "content": 3 * LONG}]
    table = pyarrow.table({"id": list(range(60)), "messages": chats})
    assert table.nbytes > 1 << 20
    with Curtail(["limit", "-t", "1000", "--on-overflow", "error"]) as curtail:
        with pytest.raises(RecordError) as caught:
            curtail.batch(table)
        assert caught.value.index == 41
        done = curtail.batch(table, on_error="skip")
        assert done.column("id").to_pylist() == [nth for nth in range(60) if nth != 41]


def test_what_the_column_has_no_field_for_is_named():
    def gemini(nth):
        response = {"name": "f", "response": {"rows": [LONG]}}
        return [
            {"role": "user", "parts": [{"text": f"question {nth}"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"q": nth}}}]},
            {"role": "user", "parts": [{"functionResponse": response}]},
            {"role": "model", "parts": [{"text": f"answer {nth}"}]},
        ]

    table = pyarrow.table({"messages": [gemini("a"), gemini("a") + gemini("b")]})
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    shown = rounds(
        anthropic,
        lambda nth, _: {"role": "user", "content": [{"type": "tool_result", "tool_use_id": nth, "content": [image]}]},
    )
    with Curtail(["filter", "--keep-last-results", "1"]) as curtail:
        with pytest.raises(RecordError, match="no field `parts.functionResponse.response.result`") as caught:
            curtail.batch(table)
        assert caught.value.index == 1
    with Curtail(["filter", "--keep-last-results", "1"]) as curtail:
        with pytest.raises(RecordError, match="no field `content.content.text`"):
            curtail.batch(pyarrow.table({"messages": [shown]}))
