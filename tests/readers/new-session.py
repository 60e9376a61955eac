# /// script
# requires-python = ">=3.10"
# dependencies = []
# [tool.reader]
# dialects = []
# shares = ["codex", "pi", "gemini-cli", "qwen-code", "opencode"]
# ///
"""Agents resume what `--as-new-session` wrote, by the command that it printed; what they then send is compared.

The session is where its agent keeps sessions. The commands are those of the recipe, and a cut that drops more. The agent runs
without its screen, which is all that is changed in the printed command.
"""

import argparse
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from inputs import UNKNOWN, inputs
from judgement import same
from loopback import restrict_sockets
from outcomes import Red
from program import PROGRAM, ROOT, outlines, plain, shown_events
from records import values
from server import Model

OLD = "0198f0a0-0000-7000-8000-000000000001"
PROMPT = "OK?"
RECIPE = (ROOT / "docs/recipes/session-too-large.md").read_text()


class Agent:
    """An agent, as its own reader knows it: `settings` writes its configuration, `place` puts a session where it keeps them."""

    results_last = False
    # What the printed command becomes for a run without a screen.
    headless = ()

    def __init__(self, word, reader):
        self.word, self.reader = word, importlib.import_module(reader)
        self.path = f"{Path(os.environ['READER_HOME']).parent / reader}/node_modules/.bin:{Path(PROGRAM).parent}:{os.environ['PATH']}"

    def skips(self, path):
        return path.name in self.reader.SKIP | UNKNOWN

    def record(self, path, change):
        """The log with `change` applied to each record."""
        return "".join(json.dumps(change(value), separators=(",", ":")) + "\n" for value in values(path))

    def put(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def adapt(self, shown, written):
        return shown

    def sent(self, asked, written):
        return [e for message in asked[-1]["messages"] for e in self.reader.events(message) if e[0] != "system"]

    def cuts(self):
        """The command of the recipe for this agent, and one that drops messages."""
        command = next(line for line in RECIPE.splitlines() if "--as-new-session" in line and self.named() in line)
        yield command
        yield command.replace("filter --keep-last-results 2", "window -n 3")

    def named_in(self, values):
        """The ids that the records give the session."""
        return {value["sessionId"] for value in values if "sessionId" in value}

    def named(self):
        return f"--as-new-session @{self.word}"


class Codex(Agent):
    headless = [("codex resume", "codex exec --skip-git-repo-check resume")]

    def settings(self, home, work, url):
        subprocess.run(["git", "init", "-q"], cwd=work, check=True, timeout=30)
        self.put(home / "codex/config.toml", f'openai_base_url = "{url}/v1"\nmodel_context_window = 100000000\nmodel_auto_compact_token_limit = 90000000\n[analytics]\nenabled = false\n')
        return {"CODEX_HOME": str(home / "codex"), "CODEX_API_KEY": "none"}

    def place(self, home, work, path):
        first, *rest = path.read_text().splitlines(True)
        first = json.loads(first)
        first["payload"] |= {**self.reader.HEAD, **first["payload"], "id": OLD, "cwd": str(work)}
        text = "".join([json.dumps(first) + "\n", *rest])
        return self.put(home / f"codex/sessions/2026/04/11/rollout-2026-04-11T08-00-01-{OLD}.jsonl", text)

    def named_in(self, values):
        return {values[0]["payload"]["id"]}

    def skips(self, path):
        return super().skips(path) or "payload" not in values(path)[0]

    def sent(self, asked, written):
        return self.reader.without_own([e for item in asked[-1]["input"] for e in self.reader.events(item)])

    def adapt(self, shown, written):
        return self.reader.without_own(shown)


class Pi(Agent):
    headless = [("pi --session", "pi --offline --provider loop --model m --session")]

    def settings(self, home, work, url):
        entry = {"id": "m", "name": "m", "reasoning": False, "input": ["text", "image"], "contextWindow": 90000000, "maxTokens": 1000}
        provider = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "none", "models": [entry]}
        self.put(home / "pi/models.json", json.dumps({"providers": {"loop": provider}}))
        return {"PI_CODING_AGENT_DIR": str(home / "pi")}

    def place(self, home, work, path):
        head, *entries = values(path)
        lines = [head | {"cwd": str(work), "id": OLD}, *map(self.reader.complete, entries)]
        return self.put(home / f"pi/sessions/--work--/2026_{OLD}.jsonl", "".join(json.dumps(line) + "\n" for line in lines))

    def sent(self, asked, written):
        held = self.reader.without_thoughts(super().sent(asked, written), values(written))
        held = [(kind, self.reader.SUMMARY.sub(r"\1", text) if kind == "user" else text) for kind, text in held]
        return [e for e in held if e[1] != "Attached image(s) from tool result:"]

    def named_in(self, values):
        return {values[0]["id"]}


class Gemini(Agent):
    results_last = True
    headless = [("gemini --resume", "gemini --skip-trust -m gemini-2.5-flash --resume")]

    def settings(self, home, work, url):
        settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False}, "general": {"disableAutoUpdate": True, "enableAutoUpdate": False}}
        self.put(home / ".gemini/settings.json", json.dumps(settings))
        self.put(home / ".gemini/tmp/loom/.project_root", str(work))
        return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url}

    def place(self, home, work, path):
        return self.put(home / f".gemini/tmp/loom/chats/session-2026-04-11T08-00-{OLD[:8]}{path.suffix}", path.read_text())

    def skips(self, path):
        return super().skips(path) or not re.match(r"cli|small|jsonl_v040|resumed", path.name)

    def sent(self, asked, written):
        contents = [asked for asked in asked if "contents" in asked][-1]["contents"]
        held = self.reader.once([e for content in contents for e in self.reader.events(content)])
        return [e for e in held if not str(e[1]).startswith(self.reader.OWN)]

    def adapt(self, shown, written):
        return self.reader.adapt(shown)


class Qwen(Agent):
    results_last = True

    def settings(self, home, work, url):
        settings = {"security": {"auth": {"selectedType": "openai"}}, "privacy": {"usageStatisticsEnabled": False}, "general": {"disableAutoUpdate": True}}
        self.put(home / "qwen/settings.json", json.dumps(settings))
        return {"QWEN_HOME": str(home / "qwen"), "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "m"}

    def place(self, home, work, path):
        text = self.record(path, lambda value: value | {"sessionId": OLD, "cwd": str(work)})
        return self.put(home / f"qwen/projects/{re.sub('[^a-zA-Z0-9]', '-', str(work))}/chats/{OLD}.jsonl", text)

    def sent(self, asked, written):
        asked = [asked for asked in asked if PROMPT in json.dumps(asked.get("messages"))]
        *held, last = self.reader.without_context(super().sent(asked[:1], written))
        return [*self.reader.folded(list(self.reader.apart(held, values(written))), written.read_text()), last]

    def adapt(self, shown, written):
        return self.reader.from_boundary(shown)


class OpenCode(Agent):
    results_last = True
    headless = [("opencode --session", "opencode run -m loop/m --session")]

    def skips(self, path):
        # It imports no parts that it does not know.
        return super().skips(path) or path.name == "unknown.json"

    def settings(self, home, work, url):
        self.put(home / ".config/opencode/opencode.json", json.dumps(self.reader.settings(url)))
        return {f"OPENCODE_DISABLE_{name}": "1" for name in ("MODELS_FETCH", "AUTOUPDATE", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")}

    def place(self, home, work, path):
        export = json.loads(path.read_text())
        export["info"]["directory"] = str(work)
        self.session = export["info"]["id"]
        return self.put(home / "export.json", json.dumps(export))

    def named_in(self, values):
        [export] = values
        parts = [part for message in export["messages"] for part in message["parts"]]
        return {export["info"]["id"], *(record["sessionID"] for record in [*parts, *(m["info"] for m in export["messages"])])}

    def named(self):
        return "opencode export ID"

    def cuts(self):
        for command in super().cuts():
            yield f"opencode import ~/export.json >&2 && {command.replace('ID', self.session)}"

    def sent(self, asked, written):
        export = json.loads(written.read_text())
        parts = [(p["type"], p["text"]) for m in export["messages"] for p in m["parts"] if p["type"] in ("text", "reasoning") and p["text"]]
        asked = [asked["messages"] for asked in asked if asked.get("tools")][0]
        held = [e for message in asked if message["role"] != "system" for e in self.reader.events(message, parts)]
        return [*self.reader.in_place(held[:-1], export["messages"]), held[-1]]


def shell(line, work, environment):
    return subprocess.run(["sh", "-c", line], cwd=work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=150)


def tried(agent, path, number, damage=None):
    """Cuts a session with one of the agent's commands, resumes it as is printed, and compares what the agent sends."""
    with Model() as model, tempfile.TemporaryDirectory(dir=Path.home()) as folder:
        home, work = Path(folder), Path(folder, "work")
        work.mkdir()
        environment = {"PATH": agent.path, "HOME": folder, **agent.settings(home, work, model.url)}
        original = agent.place(home, work, path)
        before = original.read_bytes()
        command = list(agent.cuts())[number]
        done = shell(command, work, environment)
        resume = re.search(r"resume it with: (.*)", done.stderr)
        if done.returncode or not resume:
            raise Red(f"{command}: {done.stderr[-300:]}")
        if original.read_bytes() != before:
            raise Red("the original changed")
        written = Path(work, done.stdout.splitlines()[-1])
        shown = [agent.adapt(shown_events(outline, results_last=agent.results_last), written) for outline in outlines(written, live=True)]
        kept = agent.put(home / "kept", written.read_text())
        if damage:
            damage(written, shown[0])
        named = agent.named_in(values(written if written.exists() else kept))
        if len(named) != 1 or not any(name[:8] in f"{written.name} {resume.group(1)}" for name in named):
            raise Red(f"the session is called {named}")
        line = resume.group(1)
        for printed, run in agent.headless:
            line = line.replace(printed, run)
        line += f" '{PROMPT}'" if agent.word in ("codex", "opencode") else f" -p '{PROMPT}'"
        answered = shell(line, work, environment)
        if answered.returncode or not model.asked:
            raise Red(f"{line}: {answered.returncode} {answered.stderr[-300:]} {answered.stdout[-300:]}".replace(folder, ""))
        held = [e for e in agent.sent(model.asked, kept) if plain(e[1])]
        if not held or held.pop() != ("user", PROMPT):
            raise Red("the prompt is not last")
        for at in range(max(len(shown[0]), len(held))):
            if at >= len(shown[0]) or at >= len(held) or not same(shown[0][at], held[at]):
                raise Red(f"event {at}: shown {shown[0][at : at + 2]}, held {held[at : at + 2]}")


def moved_away(written, shown):
    """The session is not where it was written."""
    written.rename(written.with_suffix(".lost"))


def another_id(written, shown):
    """The session has not the id by which it is resumed."""
    text = written.read_text()
    [name] = re.findall(r'"(?:sessionI[dD]|id)": ?"([^"]{30,})"', text)[:1]
    written.write_text(text.replace(name, "0" * len(name)))


def lost_text(written, shown):
    """A text of the session is another one than was kept."""
    text = next((text for kind, text in reversed(shown) if kind not in ("call", "result")), "")
    begins = json.dumps(text.rstrip("…"))[1:-1][:12]
    written.write_text(written.read_text().replace(begins, "Gone."))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--plant", action="store_true")
    parser.add_argument("--only")
    asked = parser.parse_args()
    restrict_sockets()
    agents = [(Codex("codex", "codex"), ["codex"], ["codex"]), (Pi("pi", "pi"), ["pi"], ["pi"]), (Gemini("gemini", "gemini-cli"), ["gemini"], ["gemini/cli-jsonl"]), (Qwen("qwen", "qwen-code"), ["qwen"], ["agent-sessions/qwen"]), (OpenCode("opencode", "opencode"), ["opencode"], ["opencode"])]
    bad = False
    for agent, dialects, data in agents:
        with tempfile.TemporaryDirectory(prefix="curtail-readers-") as folder:
            paths = [found.path for found in inputs(dialects, [] if asked.plant else data, Path(folder)) if not agent.skips(found.path)]
            paths = [path for path in paths if not asked.only or asked.only in f"{agent.word}/{path.name}"]
            bad |= (plant if asked.plant else resumed)(agent, paths) or not (paths or asked.only)
    sys.exit(bad)


def resumed(agent, paths):
    """Whether a new session was not resumed."""
    count, reds = 0, []
    for path in paths:
        for number in range(2):
            count += 1
            try:
                tried(agent, path, number)
            except Exception as error:  # noqa: BLE001 - whatever the software raises
                reds.append(f"{path.name}, cut {number}: {type(error).__name__}: {' '.join(str(error).split())[:500]}")
    print(f"  {agent.word}: {count} new sessions, {count - len(reds)} resumed", flush=True)
    for red in reds:
        print(f"  RED {red}", flush=True)
    return bool(reds)


def plant(agent, paths):
    """Whether a damage to a new session went unnoticed."""
    unnoticed = False
    for damage in (moved_away, another_id, lost_text):
        outcome = "NOT NOTICED" if paths else "no input"
        for path in paths[:4]:
            try:
                tried(agent, path, 0)
            except Exception:  # noqa: BLE001 - red without the damage
                continue
            try:
                tried(agent, path, 0, damage)
            except Exception as error:  # noqa: BLE001
                outcome = f"red: {path.name}: {' '.join(str(error).split())[:120]}"
                break
        print(f"  {agent.word}: {damage.__name__}: {outcome}", flush=True)
        unnoticed |= outcome == "NOT NOTICED"
    return unnoticed


if __name__ == "__main__":
    main()
