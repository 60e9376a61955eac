# /// script
# requires-python = ">=3.10"
# dependencies = []
# [tool.reader]
# dialects = ["codex"]
# npm = ["@openai/codex@0.169.0"]
# ///
"""Codex resumes a rollout; what it then sends is compared.

Of its own it adds developer messages, `<environment_context>` and `AGENTS.md` as the user's, a sentence in place of an image that
it cannot read, a result for a call that has none, and the prompt.
"""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from command_line import main
from damages import stale_usage
from outcomes import Compacted, Red, only
from reader import Reader
from server import Model

SKIP = {
    "compacted-text.jsonl": "behind a compaction without a history, Codex sends what the user wrote before it again",
    "rolled-back.jsonl": "Codex sends what stands before an encrypted compaction, which the provider leaves out",
}
HEAD = {"timestamp": "2026-04-11T08:00:00.000Z", "cwd": "/", "originator": "codex_cli_rs", "cli_version": "0.106.0", "source": "cli"}
PROMPT = "Say OK."


def events(item):
    kind = item.get("type", "message")
    if kind == "message":
        role = "system" if item["role"] == "developer" else item["role"]
        return [(role, block["text"]) for block in item["content"] if block.get("text")]
    if kind.endswith("_output"):
        return [("result", item["call_id"])] if item.get("output") != "aborted" else []
    return [("call", item.get("call_id") or item.get("id") or kind)] if kind.endswith("_call") else []


def resume(path):
    """What Codex sends after it resumed the rollout, without the prompt."""
    with Model() as model, tempfile.TemporaryDirectory(dir=Path.home()) as folder:
        home, work = Path(folder, "codex"), Path(folder, "work")
        work.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=work, check=True, timeout=30)
        first, *rest = path.read_text().splitlines(True)
        first = json.loads(first)
        head = first.get("payload", first)
        own = head["id"]
        if not re.fullmatch(r"[0-9a-f-]{36}", own):
            own = "019d0000-0000-7000-8000-00000000000f"
        day = home / "sessions/2026/04/11"
        day.mkdir(parents=True)
        # A head with what Codex demands, where our own fixtures have less.
        head |= {**HEAD, **head, "id": own} if "payload" in first else {}
        (day / f"rollout-2026-04-11T08-00-01-{own}.jsonl").write_text("".join([json.dumps(first) + "\n", *rest]))
        (home / "config.toml").write_text(f'openai_base_url = "{model.url}/v1"\n[analytics]\nenabled = false\n')
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "CODEX_HOME": str(home), "CODEX_API_KEY": "none"}
        command = ["codex", "exec", "--skip-git-repo-check", "resume", own, PROMPT]
        done = subprocess.run(command, cwd=work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        if any('"compaction_trigger"' in json.dumps(asked) for asked in model.asked):
            raise Compacted("the first request is for a compaction")
        if done.returncode or not model.asked:
            raise ValueError(f"codex {done.returncode}: {done.stderr.replace(folder, '')[-300:]}")
        return [e for item in only(model.asked)["input"] for e in events(item)]


def window(path):
    """Where Codex compacts: at nine tenths of the window that it assumes for a model of which it is told nothing."""
    return 272_000 * 9 // 10


OWN = re.compile(r"<(environment_context|permissions|skills|apps|plugins|collaboration|personality|model)|# AGENTS.md|image content omitted because it could not be processed$|\s*$")


def without_own(events):
    kept = [(kind, text) for kind, text in events if kind != "system" and not (kind == "user" and OWN.match(text))]
    return kept


def load(path):
    held = resume(path)
    if not held or held[-1] != ("user", PROMPT):
        raise Red(f"the prompt is not last: {held[-2:]}")
    return [without_own(held[:-1])]


if __name__ == "__main__":
    main(
        Reader(
            load,
            ["codex"],
            data=["codex"],
            adapt=without_own,
            jobs=4,
            live=True,
            skip=SKIP,
            window=window,
            damages=[stale_usage],
        )
    )
