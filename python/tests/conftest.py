"""Fixtures for all tests: transcripts and the program. `CURTAIL_SITE` is the folder into which the wheel was installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SITE = os.environ.get("CURTAIL_SITE", "")
if not SITE:
    pytest.exit("CURTAIL_SITE is not set; python/tests/run builds and installs the wheel", 2)
# Not PYTHONPATH: executors of Spark would inherit it, and find the module where a test ships it.
sys.path.insert(0, SITE)

import curtail  # noqa: E402


def chat(number: int, rounds: int = 4, extra: str = "") -> bytes:
    """A record of `rounds` rounds of question, call, result and answer, formatted as no serializer would write it."""
    messages = ['{"role": "system", "content": "be brief"}']
    for turn in range(rounds):
        call = f'{{"id": "c{turn}", "type": "function", "function": {{"name": "look", "arguments": "{{}}"}}}}'
        messages += [
            f'{{ "role":"user", "content": "question {turn} of {number}{extra}" }}',
            f'{{"role": "assistant", "content": null, "tool_calls": [{call}]}}',
            f'{{"role": "tool", "tool_call_id": "c{turn}", "content": "found \\u0022{turn}\\u0022"}}',
            f'{{"role": "assistant", "content": "answer  {turn}", "weight": 1.0e0}}',
        ]
    return f'{{"id": {number}, "messages": [{", ".join(messages)}]}}'.encode()


def texts_of(value):
    """The texts of a message or a row, whether they are parts or not."""
    if isinstance(value, list):
        return [text for item in value for text in texts_of(item)]
    if isinstance(value, dict):
        return [text for key, item in value.items() if key not in ("type", "input") for text in texts_of(item)]
    return [value] if isinstance(value, str) else []


@pytest.fixture
def chats() -> list[bytes]:
    """Records of one to nine rounds."""
    return [chat(number, 1 + number % 9) for number in range(40)]


@pytest.fixture
def objects(chats: list[bytes]) -> list[object]:
    """The records of `chats` as objects."""
    return [json.loads(record) for record in chats]


@pytest.fixture
def run() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Runs the program by itself."""

    def run(*words: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([curtail.find_program(), *words], input=data, capture_output=True, check=False)

    return run
