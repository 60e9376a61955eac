# /// script
# requires-python = ">=3.10"
# dependencies = []
# [tool.reader]
# dialects = ["codex"]
# npm = ["@openai/codex@0.169.0"]
# ///
"""Codex resumes a rollout; what it then sends is compared.

Of its own it adds developer messages, `<environment_context>` and `AGENTS.md` as the user's, and the prompt.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from server import Model
from shared import Red, main, values

PROMPT = "Say OK."


def events(item):
    kind = item.get("type", "message")
    if kind == "message":
        role = "system" if item["role"] == "developer" else item["role"]
        return [(role, block["text"]) for block in item["content"] if block.get("text")]
    if kind.endswith("_output"):
        return [("result", item["call_id"])]
    return [("call", item.get("call_id") or item.get("id") or "")] if kind.endswith("_call") else []


def resume(path):
    """What Codex sends after it resumed the rollout, without the prompt."""
    with Model() as model, tempfile.TemporaryDirectory(dir=Path.home()) as folder:
        home, work = Path(folder, "codex"), Path(folder, "work")
        work.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=work, check=True, timeout=30)
        first = values(path)[0]
        own = first.get("payload", first)["id"]
        if not re.fullmatch(r"[0-9a-f-]{36}", own):
            own = "019d0000-0000-7000-8000-00000000000f"
        day = home / "sessions/2026/04/11"
        day.mkdir(parents=True)
        shutil.copy(path, day / f"rollout-2026-04-11T08-00-01-{own}.jsonl")
        (home / "config.toml").write_text(f'openai_base_url = "{model.url}/v1"\n[analytics]\nenabled = false\n')
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "CODEX_HOME": str(home), "CODEX_API_KEY": "none"}
        command = ["codex", "exec", "--skip-git-repo-check", "resume", own, PROMPT]
        done = subprocess.run(command, cwd=work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        if done.returncode or not model.asked:
            raise ValueError(f"codex {done.returncode}: {done.stderr[-300:]}")
        return [e for item in model.asked[-1]["input"] for e in events(item)]


OWN = re.compile(r"<(environment_context|permissions|skills|apps|plugins|collaboration|personality|model)|# AGENTS.md|\s*$")


def without_own(events):
    kept = [(kind, text) for kind, text in events if kind != "system" and not (kind == "user" and OWN.match(text))]
    return kept


def load(path):
    held = resume(path)
    if not held or held[-1] != ("user", PROMPT):
        raise Red(f"the prompt is not last: {held[-2:]}")
    return [without_own(held[:-1])]


if __name__ == "__main__":
    main(load, ["codex"], data=["codex"], adapt=without_own, jobs=4, live=True)
