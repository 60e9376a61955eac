"""Each code block of the pages runs by itself, prints what its `#>` lines say, and is short enough to be copied."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import ROOT, SITE, chat
from curtail import find_program

LONGEST = 30


def blocks(page):
    text = (ROOT / "docs" / page).read_text()
    return [(page, text.count("\n", 0, found.start()) + 2, found[1]) for found in re.finditer(r"```python\n(.*?)```", text, re.S)]


#: What the blocks import, where its name is not that of a package without which no test runs.
OPTIONAL = ("agents", "datasets", "duckdb", "inspect_ai", "langchain_core", "langgraph", "litellm", "polars", "pydantic_ai", "ray")


@pytest.mark.parametrize(("page", "line", "code"), [*blocks("python.md"), *blocks("recipes/python-frameworks.md")], ids=lambda value: str(value)[:20].split("\n")[0])
def test_blocks_run(page, line, code, tmp_path):
    assert code.count("\n") <= LONGEST, f"{page}:{line}"
    missing = [name for name in OPTIONAL if re.search(rf"^(?:import|from) {name}\b", code, re.M)]
    for name in missing:
        if find_spec(name) is None:
            pytest.skip(f"there is no {name}")
    (tmp_path / "chats.jsonl").write_bytes(b"".join(chat(number, 1 + number % 9) + b"\n" for number in range(40)))
    script = tmp_path / "block.py"
    script.write_text(code)
    # LiteLLM asks for the prices of models when it is imported.
    offline = {"HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    environment = {**os.environ, "PYTHONPATH": SITE, **offline}
    done = subprocess.run([sys.executable, script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{page}:{line}: {done.stdout}{done.stderr}"
    shown = re.findall(r"^ *#> (.*)$", code, re.M)
    assert done.stdout.splitlines() == shown, f"{page}:{line}"


#: Tokens of one character, and a template that ends every message with a special one, in place of a model's.
TOKENIZER = '''
class Tokenizer:
    chat_template = ""

    def apply_chat_template(self, messages, tools=None, tokenize=True, return_dict=True, add_generation_prompt=False):
        assert all(value is not None or key == "content" for message in messages for key, value in message.items())
        calls = lambda message: "".join(json.dumps(call["function"], ensure_ascii=False) for call in message.get("tool_calls") or ())
        said = "".join(f"<{message['role']}>\\n{message.get('content') or ''}{calls(message)}\\x03" for message in messages)
        said += "<assistant>\\n" * add_generation_prompt
        return self(said)["input_ids"] if tokenize else said

    def __call__(self, text, **options):
        return {"input_ids": [ord(letter) for letter in text], "offset_mapping": [(at, at + 1) for at in range(len(text))]}

    def get_chat_template(self, tools=None):
        return self.chat_template

    def get_added_vocab(self):
        return {"\\x03": 3}

    def decode(self, tokens):
        return "".join(map(chr, tokens))


tokenizer = Tokenizer()
'''


def test_the_steps_of_training_run(tmp_path):
    """Runs the console blocks of the page, and then its Python block on their output."""
    page = (ROOT / "docs/training.md").read_text()
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    (tmp_path / "label_rows.py").symlink_to(ROOT / "examples/label_rows.py")
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "curtail").symlink_to(find_program())
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    for command in re.findall(r"^\$ (.*)$", page, re.M):
        subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True)
    [(_, _, code)] = blocks("training.md")
    check = """
assert len(examples) == 7, examples
for example in examples:
    assert len(example["labels"]) == len(example["input_ids"])
    assert any(label != -100 for label in example["labels"]) and example["labels"][0] == -100
# A template writes the color of a terminal as an escape.
color = {"role": "assistant", "tool_calls": [{"function": {"name": "sh", "arguments": '{"command": "\\\\u001b[0m"}'}}]}
example = labeled(tokenizer, {"messages": [{"role": "user", "content": "Go"}, color], "train_on": [1]})
assert "u001b[0m" in tokenizer.decode(token for token in example["labels"] if token != -100)
"""
    script = tmp_path / "block.py"
    script.write_text(TOKENIZER + code + check)
    done = subprocess.run([sys.executable, script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_job_of_the_page_runs(tmp_path):
    submit = Path(pytest.importorskip("pyspark").__file__).parent / "bin" / "spark-submit"
    (page, line, code), = blocks("scale.md")
    (tmp_path / "job.py").write_text(code)
    records = [chat(number, 1 + number % 9) for number in range(40)]
    (tmp_path / "chats.jsonl").write_bytes(b"\n".join([*records, b"{"]) + b"\n")
    # A Connect session leaves its address in the environment of this process.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SPARK_")}
    environment = {**inherited, "PYTHONPATH": SITE, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [submit, "--master", "local[1]", "--conf", "spark.ui.enabled=false", "job.py", "chats.jsonl", "short"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{page}:{line}: {done.stderr}"
    assert "rows that were dropped: 1\n" in done.stdout
    parts = sorted((tmp_path / "short").glob("part-*"))
    assert b"".join(part.read_bytes() for part in parts) == b"\n".join(records) + b"\n"
