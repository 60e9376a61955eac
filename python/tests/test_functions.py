"""The policies as functions: the same objects, options that are the flags, and types that checkers know."""

from __future__ import annotations

import enum
import inspect
import json
import re
import subprocess
import sys
from collections import OrderedDict

import pytest
from conftest import SITE

import curtail
from curtail import ArgumentError, Curtail, RecordError

CALL = {"id": "c1", "type": "function", "function": {"name": "timetable", "arguments": "{}"}}
CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "When does the first train leave?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "05:12 " * 40},
    {"role": "assistant", "content": "At 05:12."},
    {"role": "user", "content": "And the last one?"},
]


def test_kept_messages_are_the_same_objects():
    cut = curtail.window(CHAT, 3)
    assert cut == Curtail(["window", "-n", "3"]).one(CHAT) != CHAT
    assert all(any(message is old for old in CHAT) for message in cut)
    assert curtail.window(CHAT, 40) is CHAT
    assert curtail.limit(CHAT, "8k") is CHAT and curtail.repair(CHAT) is CHAT
    record = {"id": 1, "messages": CHAT, "tools": [1]}
    cut = curtail.limit(record, 60, pin=["first-user"])
    assert cut["tools"] is record["tools"] and cut["messages"][1] is CHAT[1]
    tools = [{"type": "function", "function": {"name": "timetable", "parameters": {}}}]
    request = curtail.limit({"tools": tools, "messages": CHAT}, 90, pin=["first-user"])
    assert request["tools"] is tools and len(request["messages"]) < len(CHAT)
    assert all(any(message is old for old in CHAT) for message in request["messages"])
    cleared = curtail.filter(CHAT, keep_last_results=0)
    changed = [old for message, old in zip(cleared, CHAT) if message is not old]
    assert changed == [CHAT[3]] and cleared[3]["content"] == "[cleared]"
    assert curtail.filter(CHAT, role=["user"]) == [CHAT[1], CHAT[5]]
    assert curtail.window(json.dumps(CHAT), 1, preserve_system=False) == json.dumps(CHAT[4:])


def test_messages_of_a_subclass_of_dict_are_the_same_objects():
    messages = [OrderedDict(message) for message in CHAT]
    for record, cut in ((messages, curtail.window(messages, 1)), (messages, curtail.window({"messages": messages}, 1)["messages"])):
        assert 0 < len(cut) < len(record) and all(any(kept is message for message in messages) for kept in cut)


def test_keys_that_are_no_texts_become_those_of_json():
    record = {1: "one", None: "none", "messages": CHAT}
    assert curtail.window(record, 40) is record
    cut = curtail.window(record, 1)
    assert set(cut) == {"1", "null", "messages"} and len(cut["messages"]) < len(CHAT)
    key = enum.Enum("Key", {"MESSAGES": "messages"}, type=str)
    cut = curtail.window({key.MESSAGES: CHAT}, 1)
    assert len(cut) == 1 and any(cut["messages"][-1] is old for old in CHAT)


def test_pairs_are_found_repaired_and_counted():
    orphan = [CHAT[1], CHAT[3], CHAT[4]]
    assert [finding.rule for finding in curtail.check(orphan)] == ["orphan-result"]
    assert curtail.check(orphan, allow="orphan-result") == []
    assert not curtail.check(curtail.repair(orphan, "drop"))
    with pytest.raises(ArgumentError, match="mode"):
        curtail.repair(orphan, "guess")
    whole, half = curtail.count(CHAT), curtail.count(CHAT[:2])
    assert 0 < half < whole == curtail.count(json.dumps(CHAT))
    assert curtail.count(CHAT, tokenizer="approx") != 0


def test_a_split_has_every_message():
    chat = [{"role": role, "content": f"{role} {nth} " * 9} for nth in range(8) for role in ("user", "assistant")]
    windows = curtail.split(chat, 120)
    assert len(windows) > 1 and [message for window in windows for message in window] == chat
    assert all(any(message is old for old in chat) for window in windows for message in window)
    assert curtail.split(CHAT, "8k") == [CHAT]


def test_a_cut_is_verified_and_explained():
    lost = curtail.verify(CHAT, curtail.window(CHAT, 1))
    assert lost["summary"]["pairs"] == 1 and lost["pairs"][0]["before"]["tokens"] > lost["pairs"][0]["after"]["tokens"]
    assert curtail.verify(CHAT, CHAT, min_kept="90%")["summary"]["passed"]
    report = Curtail(["limit", "-t", "60"]).explain(CHAT)
    assert (report.messages_before, report.messages_after) == (6, len(curtail.limit(CHAT, 60)))
    assert report.tokens_after <= 60 < report.tokens_before
    assert {explanation.policy for explanation in report.explanations} == {"limit"}
    assert any(explanation.outcome.startswith("dropped") for explanation in report.explanations)


def test_a_note_is_logged_once(caplog):
    record = {"messages": [{"role": "user", "content": "Ferry?"}, {"role": "narrator", "content": "High water. " * 90}]}
    for _ in range(2):
        curtail.limit(record, 60, on_overflow="empty")
    assert 0 < len(caplog.messages) == len(set(caplog.messages))


def test_errors_name_the_option():
    with pytest.raises(ArgumentError, match="--pin"):
        curtail.limit(CHAT, 8000, pin="nobody")
    with pytest.raises(ArgumentError, match="max-tokens"):
        curtail.limit(CHAT, "a lot")
    with pytest.raises(RecordError, match="no list of messages"):
        curtail.window({"a": 1})


#: What a function cannot have: names of files, reports, and what is an argument of its own.
NO_OPTIONS = {
    "path", "glob", "exclude_path", "framing", "dialect_file", "column", "max_record", "stdin_filename", "output", "output_dir",
    "in_place", "as_new_session", "follow_links", "force", "resume", "no_sync", "on_error", "rejects", "explain", "dry_run",
    "stats", "fail_on_change", "jobs", "quiet", "verbose", "color", "progress", "help", "no_preserve_system", "damaged",
    "drop_records_with", "map", "hidden", "no_ignore",
}
#: Flags of `filter` that only belong to `--drop-records-with`.
COUNTING = {"max_tokens", "tokenizer", "model", "overhead", "reserve", "template", "tools", "add_generation_prompt"}


@pytest.mark.parametrize("name", ["window", "limit", "filter", "repair", "split"])
def test_options_are_the_flags(name, run):
    shown = run(name, "--help").stdout.decode()
    flags = {flag.replace("-", "_") for flag in re.findall(r"^  (?:-\w, |    )--([a-z][a-z-]+)", shown, re.M)}
    options = set(inspect.signature(getattr(curtail, name)).parameters) - {"messages"}
    own = flags - NO_OPTIONS - (COUNTING if name == "filter" else set())
    assert own - {"repair"} == options - {"repair"}


TYPED = """
import curtail
from curtail import Curtail, Finding, Report

messages: list[dict[str, str]] = [{"role": "user", "content": "a"}]
kept: list[dict[str, str]] = curtail.window(messages, 40)
text: str = curtail.limit("[]", 8000, pin=["first-user"])
data: bytes = curtail.filter(b"[]", role="user")
windows: list[list[dict[str, str]]] = curtail.split(messages, "8k")
findings: list[Finding] = curtail.check(messages)
tokens: int = curtail.count(messages)
report: Report = Curtail(["limit", "-t", "8k"]).explain(messages)
for answer in Curtail(["window"]).map(["a", "b"]):
    answer.upper()
"""


@pytest.mark.parametrize("checker", [["mypy", "--strict"], ["pyright"]], ids=lambda words: words[0])
def test_types_are_known_to_checkers(checker, tmp_path):
    pytest.importorskip(checker[0])
    (tmp_path / "good.py").write_text(TYPED)
    (tmp_path / "bad.py").write_text(TYPED + "curtail.window(messages, size='many')\nwrong: int = kept\n")
    (tmp_path / "mypy.ini").write_text("[mypy]\n[mypy-pyarrow.*]\nignore_missing_imports = true\n")
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [SITE]}))
    environment = {"MYPYPATH": SITE, "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    command = [sys.executable, "-m", *checker]
    done = subprocess.run([*command, "good.py", "bad.py"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    found = [line for line in (done.stdout + done.stderr).splitlines() if "error:" in line]
    assert len(found) >= 2 and all("bad.py" in line for line in found), done.stdout + done.stderr
