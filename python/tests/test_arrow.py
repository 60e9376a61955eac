"""Arrow and Parquet files that the program cuts, compared with what pyarrow reads from them."""

from __future__ import annotations

import json

import pyarrow
import pytest
from pyarrow import ipc, parquet

KINDS = ["string", "large_string", "string_view", "binary", "large_binary", "binary_view"]


def table_of(texts, kind):
    """A table of the texts and of columns of most other types, with some nulls."""
    count = len(texts)
    number = lambda step: [None if n % step == 0 else n for n in range(count)]  # noqa: E731
    columns = {
        "id": pyarrow.array(range(count), pyarrow.int64()),
        "chat": pyarrow.array([None if text is None else text.encode() for text in texts], pyarrow.binary()).cast(
            getattr(pyarrow, kind)()
        ),
        "flag": pyarrow.array([None if n % 5 == 0 else n % 2 == 0 for n in range(count)]),
        "score": pyarrow.array(number(3), pyarrow.float32()),
        "when": pyarrow.array(number(4), pyarrow.timestamp("us", "Europe/Zurich")),
        "price": pyarrow.array(number(7), pyarrow.decimal128(20, 3)),
        "who": pyarrow.array([f"person {n % 3}" for n in range(count)]).dictionary_encode(),
        "tags": pyarrow.array([[f"tag {n}"] * (n % 3) if n % 4 else None for n in range(count)]),
        "more": pyarrow.array([{"a": n, "b": None} if n % 3 else None for n in range(count)]),
        "pair": pyarrow.array([[n, None] for n in range(count)], pyarrow.list_(pyarrow.int32(), 2)),
        "map": pyarrow.array([[("k", n)] for n in range(count)], pyarrow.map_(pyarrow.string(), pyarrow.int64())),
        "nothing": pyarrow.nulls(count),
    }
    schema = pyarrow.schema(
        [pyarrow.field(name, array.type, metadata={"field": name}) for name, array in columns.items()],
        metadata={"table": "chats", "huggingface": "{}"},
    )
    return pyarrow.table(columns, schema)


def write(path, table, codec=None, rows=7):
    """Writes a file, or a stream if the name says so, with batches of a given number of rows."""
    options = ipc.IpcWriteOptions(compression=codec)
    make = ipc.new_stream if path.suffix == ".arrow" else ipc.new_file
    with make(path, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rows)


def batches(path):
    if path.suffix != ".arrow":
        reader = ipc.open_file(path)
        return reader.schema, [reader.get_batch(number) for number in range(reader.num_record_batches)]
    with ipc.open_stream(path) as reader:
        return reader.schema, list(reader)


@pytest.fixture
def texts(chats):
    return [None if number % 6 == 5 else chat.decode() for number, chat in enumerate(chats)]


def cut_texts(run, texts):
    kept = [text for text in texts if text is not None]
    done = run("window", "-n", "3", "--framing", "records", data="\n".join(kept).encode() + b"\n")
    lines = iter(done.stdout.decode().splitlines())
    return [None if text is None else next(lines) for text in texts]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["chats.arrow", "chats.feather"])
@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
def test_every_other_column_stays(tmp_path, run, texts, kind, name, codec):
    old, new = tmp_path / name, tmp_path / f"new-{name}"
    write(old, table_of(texts, kind), codec)
    done = run("window", "-n", "3", str(old), "-o", str(new))
    assert done.returncode == 0, done.stderr.decode()
    (schema, before), (new_schema, after) = batches(old), batches(new)
    assert new_schema.equals(schema, check_metadata=True)
    assert [batch.num_rows for batch in before] == [batch.num_rows for batch in after]
    wanted = table_of(cut_texts(run, texts), kind)
    table = pyarrow.Table.from_batches(after)
    table.validate(full=True)
    assert table.equals(wanted, check_metadata=True)
    # Without a codec, the file contains every text unchanged.
    assert (new.read_bytes().count(b'"role": "assistant"') >= len(texts) - texts.count(None)) == (codec is None)


@pytest.mark.parametrize("name", ["chats.arrow", "chats.ipc"])
def test_a_row_that_fails_is_named_skipped_or_kept(tmp_path, run, texts, name):
    texts[9] = '{"messages": [}'
    old, new = tmp_path / name, tmp_path / f"new-{name}"
    write(old, table_of(texts, "string"))
    done = run("window", "-n", "3", str(old), "-o", str(new))
    assert done.returncode == 2 and f"{name}:10:15: ".encode() in done.stderr and b"(batch 2, row 3)" in done.stderr
    assert not new.exists()
    assert run("window", "-n", "3", str(old), "-o", str(new), "--on-error", "skip").returncode == 0
    kept = [number for number in range(len(texts)) if number != 9]
    table = pyarrow.Table.from_batches(batches(new)[1])
    table.validate(full=True)
    whole = table_of([None if number == 9 else text for number, text in enumerate(texts)], "string").take(kept)
    wanted = cut_texts(run, [texts[number] for number in kept])
    assert table.column("chat").to_pylist() == wanted
    assert table.drop(["chat"]).equals(whole.drop(["chat"]), check_metadata=True)
    assert run("window", "-n", "3", str(old), "-o", str(new), "--on-error", "keep", "--force").returncode == 0
    assert pyarrow.Table.from_batches(batches(new)[1]).column("chat")[9].as_py() == texts[9]


def test_check_and_count_name_the_batch_and_the_row(tmp_path, run, texts, chats):
    orphan = {"messages": [{"role": "user", "content": "q"}, {"role": "tool", "tool_call_id": "c", "content": "r"}]}
    texts[15] = json.dumps(orphan)
    path = tmp_path / "chats.arrow"
    write(path, table_of(texts, "large_string"), "zstd")
    found = run("check", str(path))
    assert found.returncode == 1 and b"chats.arrow:16:" in found.stdout and b"(batch 3, row 2)" in found.stdout
    lines = tmp_path / "chats.jsonl"
    lines.write_text("".join(f"{text}\n" for text in texts if text is not None))
    counts = [run("count", "--by", "role", "--output-format", "csv", str(file)).stdout for file in (path, lines)]
    assert counts[0] == counts[1] and counts[0].count(b"\n") > 3
    walked = run("count", str(tmp_path)).stdout.splitlines()
    assert [line.split()[0].rsplit(b".", 1)[-1] for line in walked[1:3]] == [b"arrow", b"jsonl"]
    assert run("repair", "-i", str(path)).returncode == 0
    assert run("check", str(path)).returncode == 0
    piped = run("count", data=path.read_bytes())
    assert piped.returncode == 2 and b"name the file" in piped.stderr
    named = run("window", str(path), "-o", str(tmp_path / "out.parquet"))
    assert named.returncode == 2 and b"Arrow" in named.stderr
    packed = run("window", str(path), "-o", str(tmp_path / "out.arrow.gz"))
    assert packed.returncode == 2


@pytest.mark.parametrize("large", [False, True])
def test_lists_of_structs_lose_elements(tmp_path, run, large):
    kind = pyarrow.struct({"role": pyarrow.string(), "content": pyarrow.string(), "marks": pyarrow.list_(pyarrow.int8())})
    rows = [
        None if row % 7 == 0 else [
            {"role": ["user", "assistant"][n % 2], "content": f"{n} of {row}", "marks": [n] if n % 2 else None}
            for n in range(row % 6)
        ]
        for row in range(40)
    ]
    column = pyarrow.array(rows, (pyarrow.large_list if large else pyarrow.list_)(kind))
    # In a slice, the offsets of lists do not begin at 0.
    table = pyarrow.table({"id": pyarrow.array(range(40)), "messages": column}).slice(3)
    path, new = tmp_path / "in.arrow", tmp_path / "out.arrow"
    write(path, table)
    done = run("window", "-n", "2", str(path), "-o", str(new))
    assert done.returncode == 0, done.stderr.decode()
    cut = pyarrow.Table.from_batches(batches(new)[1])
    cut.validate(full=True)
    assert cut.schema.equals(table.schema) and cut.column("id").equals(table.column("id"))
    assert cut.column("messages").to_pylist() == [None if row is None else row[-2:] for row in rows[3:]]


@pytest.mark.parametrize("name", ["chats.arrow", "chats.feather"])
def test_texts_in_a_dictionary_are_cut(tmp_path, run, texts, name):
    texts[20:25] = texts[:5]
    old, new = tmp_path / name, tmp_path / f"new-{name}"
    kind = pyarrow.dictionary(pyarrow.int16(), pyarrow.large_string())
    table = pyarrow.table({"id": list(range(len(texts))), "chat": pyarrow.array(texts, pyarrow.large_string()).cast(kind)})
    write(old, table)
    done = run("window", "-n", "3", str(old), "-o", str(new))
    assert done.returncode == 0, done.stderr.decode()
    cut = pyarrow.Table.from_batches(batches(new)[1])
    cut.validate(full=True)
    assert cut.schema == table.schema and cut.column("chat").to_pylist() == cut_texts(run, texts)
    # Nothing of what was cut stays in the dictionary.
    assert b"question 0 of 8" in old.read_bytes() and b"question 0 of 8" not in new.read_bytes()


def test_a_message_that_does_not_fit_its_column_is_named(tmp_path, run):
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    chat = [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [call]}, {"role": "user", "content": "y"}]
    table = pyarrow.table({"messages": [chat[:1], chat]})
    for name in ("in.arrow", "in.parquet"):
        path = tmp_path / name
        write(path, table) if name == "in.arrow" else parquet.write_table(table, path)
        done = run("repair", "--mode", "stub", str(path), "-o", str(tmp_path / f"new-{name}"))
        assert done.returncode == 2 and b"no field `tool_call_id`" in done.stderr and b"row 2" in done.stderr, done.stderr


def test_dictionaries_that_grow_and_metadata_of_the_file_stay(tmp_path, run, chats):
    columns = [["a", "b"], ["a", "b", "c"], ["c"]]
    path, new = tmp_path / "in.arrow", tmp_path / "out.arrow"
    made = [
        pyarrow.record_batch({
            "messages": pyarrow.array([chats[nth].decode()] * len(names)),
            "who": pyarrow.DictionaryArray.from_arrays(range(len(names)), names),
        })
        for nth, names in enumerate(columns)
    ]
    for deltas in (False, True):
        options = ipc.IpcWriteOptions(emit_dictionary_deltas=deltas)
        with ipc.new_stream(path, made[0].schema, options=options) as writer:
            for batch in made:
                writer.write_batch(batch)
        done = run("window", "-n", "1", str(path), "-o", str(new), "--force")
        assert done.returncode == 0, done.stderr.decode()
        after = batches(new)[1]
        assert [batch.column("who").to_pylist() for batch in after] == columns
    whole = tmp_path / "in.feather"
    with ipc.new_file(whole, made[0].schema.remove(1), metadata={"k": "v"}) as writer:
        writer.write_batch(made[0].drop_columns(["who"]))
    assert run("window", "-n", "1", "-i", str(whole)).returncode == 0
    assert ipc.open_file(whole).metadata == pyarrow.KeyValueMetadata({"k": "v"})


def test_damaged_files_are_refused(tmp_path, run, texts):
    for name in ("chats.arrow", "chats.feather"):
        path = tmp_path / name
        write(path, table_of(texts, "string"), "lz4")
        whole = path.read_bytes()
        for length in range(4, len(whole), len(whole) // 60):
            path.write_bytes(whole[:length])
            done = run("window", "-n", "3", "-i", str(path))
            assert done.returncode in (0, 2) and b"panicked" not in done.stderr, (name, length, done.stderr)
            assert done.returncode == 0 or path.read_bytes() == whole[:length]
        for place in range(4, len(whole), len(whole) // 60):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
            done = run("count", str(path))
            assert done.returncode in (0, 2) and b"panicked" not in done.stderr, (name, place, done.stderr)


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_a_batch_that_grows_past_the_limit_is_refused(tmp_path, run, chats, codec):
    table = pyarrow.table({"messages": [chats[0].decode()], "blank": [" " * 40_000_000]})
    for name in ("chats.arrow", "chats.feather"):
        path, new = tmp_path / name, tmp_path / f"new-{name}"
        write(path, table, codec)
        assert path.stat().st_size < 1_000_000
        refused = run("window", "-n", "1", "--max-record", "10m", str(path), "-o", str(new))
        assert refused.returncode == 2 and name.encode() in refused.stderr and b"--max-record" in refused.stderr
        assert not new.exists()
        assert run("window", "-n", "1", "--max-record", "50m", str(path), "-o", str(new)).returncode == 0


def test_dictionaries_that_grow_past_the_limit_together_are_refused(tmp_path, run, chats):
    words = {f"word {nth}": pyarrow.array([str(nth) + " " * 4_000_000]).dictionary_encode() for nth in range(6)}
    table = pyarrow.table({"messages": [chats[0].decode()], **words})
    for name in ("chats.arrow", "chats.feather"):
        path, new = tmp_path / name, tmp_path / f"new-{name}"
        write(path, table, "zstd")
        refused = run("window", "-n", "1", "--max-record", "10m", str(path), "-o", str(new))
        assert refused.returncode == 2 and name.encode() in refused.stderr and b"--max-record" in refused.stderr
        assert run("window", "-n", "1", "--max-record", "30m", str(path), "-o", str(new)).returncode == 0
        assert pyarrow.Table.from_batches(batches(new)[1]).drop(["messages"]).equals(table.drop(["messages"]))


def test_an_empty_table_stays(tmp_path, run):
    for name in ("chats.arrow", "chats.feather"):
        path, new = tmp_path / name, tmp_path / f"new-{name}"
        write(path, table_of([], "string"))
        assert run("window", str(path), "-o", str(new)).returncode == 0
        assert batches(new)[0].equals(batches(path)[0], check_metadata=True)


def test_a_dataset_of_hugging_face(tmp_path, run, objects):
    datasets = pytest.importorskip("datasets")
    made = datasets.Dataset.from_list([{"id": nth, "messages": chat["messages"]} for nth, chat in enumerate(objects)])
    made.save_to_disk(tmp_path / "set")
    (path,) = (tmp_path / "set").glob("*.arrow")
    done = run("window", "-n", "3", "-i", str(path))
    assert done.returncode == 0, done.stderr.decode()
    cut = datasets.load_from_disk(tmp_path / "set")
    assert cut.features == made.features and cut["id"] == made["id"]
    for before, after in zip(made["messages"], cut["messages"]):
        assert [message for message in before if message in after] == after and 0 < len(after) <= len(before)


@pytest.mark.parametrize("codec", ["none", "snappy", "zstd"])
def test_parquet_reads_back_equal(tmp_path, run, texts, codec):
    old, new = tmp_path / "in.parquet", tmp_path / "out.parquet"
    table = table_of(texts, "string")
    parquet.write_table(table, old, row_group_size=7, compression=codec)
    assert run("window", "-n", "3", str(old), "-o", str(new)).returncode == 0
    before, after = parquet.read_table(old), parquet.read_table(new)
    assert after.schema.equals(before.schema, check_metadata=True)
    assert after.drop(["chat"]).equals(before.drop(["chat"]), check_metadata=True)
    assert after.column("chat").to_pylist() == cut_texts(run, texts)


def test_feather_version_1_is_refused(tmp_path, run):
    path = tmp_path / "old.feather"
    path.write_bytes(b"FEA1" + bytes(60) + b"FEA1")
    assert run("count", str(path)).returncode == 2


@pytest.mark.parametrize("name", ["chats.arrow", "chats.feather"])
def test_a_row_becomes_several(tmp_path, run, texts, name):
    old, new = tmp_path / name, tmp_path / f"new-{name}"
    write(old, table_of(texts, "string"))
    done = run("split", "-t", "60", str(old), "-o", str(new))
    assert done.returncode == 0, done.stderr.decode()
    table = pyarrow.Table.from_batches(batches(new)[1])
    table.validate(full=True)
    windows = []
    for number, text in enumerate(texts):
        cut = None if text is None else run("split", "-t", "60", "--framing", "records", data=text.encode()).stdout.decode()
        windows += [(number, None)] if cut is None else [(number, line) for line in cut.splitlines()]
    assert len(windows) > len(texts)
    assert list(zip(table.column("id").to_pylist(), table.column("chat").to_pylist())) == windows
    whole = table_of(texts, "string").take([number for number, _ in windows])
    assert table.drop(["chat"]).equals(whole.drop(["chat"]), check_metadata=True)
