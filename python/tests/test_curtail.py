"""`Curtail`: the same bytes as the program, and errors with their place."""

from __future__ import annotations

import json
import multiprocessing
import pickle

import pytest
from conftest import chat

from curtail import ArgumentError, Curtail, RecordError

WINDOW = ["window", "-n", "4"]


def test_bytes_and_text_are_what_the_program_writes(chats, run):
    file = b"\n".join(chats) + b"\n"
    expected = run(*WINDOW, data=file).stdout
    assert expected != file
    with Curtail(WINDOW) as curtail:
        assert b"".join(curtail.one(record) + b"\n" for record in chats) == expected
        assert b"".join(curtail.map(record + b"\n" for record in chats)) == expected
        text = [record.decode() for record in chats]
        assert "\n".join(curtail.batch({"messages": text})["messages"]).encode() + b"\n" == expected
        assert curtail.one(memoryview(chats[8])) == curtail.one(chats[8])


@pytest.mark.parametrize(
    "said",
    ["plain", "r\u00e9sum\u00e9 \u4f60 \U0001f600", "half \ud800", 'quoted " \\ \u2028 \x7f \0', float("nan"), 1 << 70, None, {1: "a"}],
)
def test_objects_of_any_value_keep_their_messages(said):
    chat = [{"role": "user", "content": said if nth == 3 else f"question {nth}"} for nth in range(6)]
    for record, kept in ((chat, chat[3:]), ({"id": "a", "messages": chat}, {"id": "a", "messages": chat[3:]})):
        [outcome] = Curtail(["window", "-n", "3"]).map([record], on_error="return")
        if isinstance(said, float):
            assert isinstance(outcome, RecordError) and "not JSON" in str(outcome)
            continue
        assert outcome == kept
        messages = outcome if isinstance(outcome, list) else outcome["messages"]
        assert all(one is sent for one, sent in zip(messages, chat[3:]))


def test_objects_lose_what_the_records_lose(chats, objects):
    with Curtail(WINDOW) as curtail:
        for record, value in zip(chats, objects):
            assert curtail.one(value) == json.loads(curtail.one(record))
        short = {"messages": [{"role": "user", "content": "a \ud800 half"}]}
        assert curtail.one(short) is short


def test_objects_are_cut_like_their_text_and_keep_their_messages(run):
    odd = {"content": "é\u2028 \"x\"", "role": "user", "n": 1e16, "more": {"ü": [None, True, 2**70]}}
    twice = {"role": "user", "content": "again"}
    messages = [odd, twice, {"role": "assistant", "content": "a"}, twice, {"role": "assistant", "content": "\ud800"}]
    for record in (messages, {"id": "é", "messages": messages, "after": [1, {}]}, {"messages": [twice]}, {"messages": []}):
        text = json.dumps(record)
        for count in range(1, 7):
            flags = ["window", "-n", str(count), "--strategy", "sliding"]
            wanted = json.loads(run(*flags, "--framing", "document", data=text.encode()).stdout)
            with Curtail(flags) as curtail:
                answer = curtail.one(record)
            assert answer == wanted
            kept = answer if isinstance(answer, list) else answer["messages"]
            assert all(any(message is old for old in messages) for message in kept)
            assert isinstance(answer, list) or list(answer) == list(record)
    # A message that changes is parsed from the answer, and its object is not modified.
    long = {"messages": [{"role": "user", "content": "word " * 400}, {"role": "assistant", "content": "yes"}]}
    with Curtail(["limit", "-t", "40", "--on-overflow", "truncate"]) as curtail:
        short = curtail.one(long)
    assert 0 < len(short["messages"][0]["content"]) < 2000 == len(long["messages"][0]["content"])


def test_what_is_no_record_stays(chats):
    with Curtail(WINDOW) as curtail:
        answers = list(curtail.map([None, "", " \n", chats[8], b"\r\n"]))
        assert answers == [None, "", " \n", curtail.one(chats[8]), b"\r\n"]
        assert curtail.one("\t") == "\t"


def test_separators_of_lines_that_are_no_line_ends(run):
    records = [chat(1, 6, "\u2028a\u0085b\u2029"), chat(2, 6) + b"\r", chat(3, 6, "x" * (1 << 20))]
    with Curtail(WINDOW) as curtail:
        answers = list(curtail.map(records))
    assert b"\n".join(answers) + b"\n" == run(*WINDOW, data=b"\n".join(records) + b"\n").stdout
    assert answers[1].endswith(b"}\r")


def test_a_record_of_several_lines_is_cut_as_a_document(chats):
    pretty = json.dumps(json.loads(chats[8]), indent=1)
    with Curtail(WINDOW) as curtail:
        answer = curtail.one(pretty)
        assert json.loads(answer) == json.loads(curtail.one(chats[8]))
        assert '\n "messages": [' in answer
        with pytest.raises(RecordError) as caught:
            curtail.one('{"messages": [\n\n}')
    assert (caught.value.line, caught.value.column) == (3, 1)


def test_an_error_shows_codes_for_what_a_terminal_obeys():
    with Curtail(WINDOW) as curtail, pytest.raises(RecordError) as caught:
        curtail.one('{"\x1b[2J\u202e')
    assert str(caught.value).endswith(': {"\u27e8U+001B\u27e9[2J\u27e8U+202E\u27e9')
    assert caught.value.record == b'{"\x1b[2J\xe2\x80\xae'


def test_a_log_is_one_transcript(run):
    log = "".join(json.dumps({"role": "user", "content": str(nth)}) + "\n" for nth in range(9))
    assert Curtail(["window", "-n", "2"]).whole(log) == "".join(log.splitlines(keepends=True)[-2:])
    with pytest.raises(RecordError, match="line 2"):
        Curtail(WINDOW).whole(b'{"role":"user","content":"a"}\n{"role"}\n')


def test_each_window_ends_as_its_record_did(chats):
    split = Curtail(["split", "-t", "60"])
    record = chats[8].rstrip()
    windows = split.one(record)
    assert len(windows) > 1 and not any(window.endswith(b"\n") for window in windows)
    assert split.one(record + b"\n") == [window + b"\n" for window in windows]


def test_a_log_that_becomes_several_transcripts_is_refused():
    turn = '{"role":"user","content":"a"}\n{"role":"assistant","content":"b"}\n'
    with pytest.raises(RecordError, match="becomes 3 transcripts"):
        Curtail(["split", "-t", "2"]).whole(turn * 3)


def test_errors_have_the_record_the_place_and_the_words(chats):
    records = [chats[0], b'{"messages": [}', chats[1]]
    with Curtail(WINDOW) as curtail:
        with pytest.raises(RecordError) as caught:
            list(curtail.map(records))
        error = caught.value
        assert (error.index, error.column, error.reason) == (1, 15, "expected a JSON value")
        assert str(error) == 'record 1, column 15: expected a JSON value: {"messages": [}'
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), again.record) == (str(error), records[1])
        with pytest.raises(RecordError):
            curtail.one(records[1])
        assert curtail.one(chats[0])


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"messages": [float("nan")]}, "not JSON"),
        ({1, 2}, "not JSON"),
        ("\ud800", "not Unicode"),
        (b"\x1f\x8b\x08", "compressed"),
        (b"\xff", "UTF-8"),
        ({"text": "no transcript"}, "no list of messages"),
    ],
)
def test_what_cannot_be_a_record_is_an_error_and_not_a_wrong_answer(record, words, chats):
    with Curtail(WINDOW) as curtail:
        answers = list(curtail.map([chats[8], record, chats[8]], on_error="return"))
        assert answers[0] == answers[2] == curtail.one(chats[8])
        assert isinstance(answers[1], RecordError) and words in str(answers[1])
        assert answers[1].index == 1


def test_the_first_record_may_be_short():
    for record in (b"[]", b"{", b"(", b"x"):
        with Curtail(WINDOW) as curtail:
            answer = list(curtail.map([record], on_error="return"))[0]
        assert answer == record if record == b"[]" else isinstance(answer, RecordError)


def test_what_becomes_of_records_that_fail(chats):
    records = [chats[0], b"{", chats[1]]
    with Curtail(WINDOW) as curtail:
        first, second = curtail.one(chats[0]), curtail.one(chats[1])
        assert list(curtail.map(records, on_error="skip")) == [first, second]
        assert list(curtail.map(records, on_error="keep")) == [first, b"{", second]
        returned = list(curtail.map(records, on_error="return"))
        assert returned[0] == first and returned[2] == second and returned[1].column == 2


def test_records_with_findings_fail_with_them(chats):
    twice = [chats[0], chats[1], chats[0]]
    with Curtail(["filter", "--drop-records-with", "D003"]) as curtail:
        assert list(curtail.map(twice, on_error="skip")) == [chats[0], chats[1]]
        *_, copy = curtail.map(twice, on_error="return")
        assert copy.reason.startswith("D003 duplicate-transcript: ")


def test_a_record_that_is_too_long_fails_alone(chats):
    long = chat(7, 6, "x" * (3 << 20))
    with Curtail([*WINDOW, "--max-record", "1m"]) as curtail:
        answers = list(curtail.map([chats[0], long, chats[1], long, chats[2]], on_error="return"))
    assert [isinstance(answer, RecordError) for answer in answers] == [False, True, False, True, False]
    assert "max-record" in answers[1].reason


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], "no command"),
        ("limit -t 8k", "list of words"),
        (["limt", "-t", "8k"], "is not one of"),
        (["memory", "recall"], "state"),
        (["limit"], "--max-tokens"),
        (["limit", "-t", "8k", "--frobnicate"], "unexpected argument"),
        (["limit", "-t", "8k", "README.md"], "no PATH"),
        ([*WINDOW, "-o", "out.jsonl"], "no output flag"),
        ([*WINDOW, "--dry-run"], "no output flag"),
        ([*WINDOW, "--framing", "lines"], "--framing"),
        (["split", "-t", "8k", "--map", "map.jsonl"], "--map"),
        (["check", "--baseline", "known.json"], "--baseline"),
        (["summarize", "--emit", "state"], "--emit state"),
    ],
)
def test_arguments_that_cannot_answer_records_are_refused_at_once(args, words):
    with pytest.raises(ArgumentError, match=words):
        Curtail(args)


def test_numbers_among_the_words_are_read_and_fewer_threads_than_none_are_refused(chats):
    assert Curtail(["window", "-n", 4]).one(chats[8]) == Curtail(WINDOW).one(chats[8])
    with pytest.raises(ArgumentError, match="jobs"):
        Curtail(WINDOW, jobs=-1)


def test_check_returns_findings():
    broken = b'{"messages": [{"role": "user", "content": "a"}, {"role": "tool", "tool_call_id": "x", "content": "b"}]}'
    curtail = Curtail(WINDOW)
    found = curtail.check(broken)
    assert "orphan-result" in [finding.rule for finding in found]
    orphan = next(finding for finding in found if finding.rule == "orphan-result")
    assert (orphan.code, orphan.level, orphan.at.line, orphan.at.message) == ("P001", "deny", 1, 1)
    assert orphan.at.pointer == "/messages/1" and orphan.provider_answer
    assert [len(found) > 0 for found in curtail.check_all([chat(1), broken, json.loads(chat(2))])] == [False, True, False]
    assert curtail.check(json.dumps(json.loads(broken), indent=1))[0].at.line > 1
    assert "orphan-result" not in [finding.rule for finding in Curtail(["check", "-A", "orphan-result"]).check(broken)]
    with pytest.raises(RecordError, match="record 1, column 1: no list of messages"):
        curtail.check_all([chat(1), b'{"a": 1}'])
    with pytest.raises(ArgumentError, match="cuts nothing"):
        Curtail(["check"]).one(broken)


def test_large_batches_stay_in_order(run):
    # Records of every size.
    records = [chat(number, 1 + number % 40, "y" * (number % 17) * 500) for number in range(600)]
    with Curtail(["window", "-n", "1000"]) as curtail:
        assert curtail.batch({"messages": records})["messages"] == records


def test_map_refuses_its_arguments_where_it_is_called():
    with pytest.raises(TypeError, match="this is one value"):
        Curtail(WINDOW).map(chat(1))
    with pytest.raises(ArgumentError, match="on_error is"):
        Curtail(WINDOW).map([], on_error="ignore")
    with pytest.raises(ArgumentError, match="cuts nothing"):
        Curtail(["check"]).map([])


def test_map_answers_one_at_a_time_where_asked(chats):
    sent = []

    def source():
        for record in chats:
            sent.append(record)
            yield record

    answers = Curtail(WINDOW).map(source(), ahead=1)
    for nth in range(1, 10):
        next(answers)
        assert len(sent) == nth


def cut(args):
    curtail, record = args
    return curtail.one(record)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_of_a_pool(method, chats):
    curtail = Curtail(WINDOW)
    expected = [curtail.one(record) for record in chats]
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(cut, [(curtail, record) for record in chats]) == expected
