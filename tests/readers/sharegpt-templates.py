# /// script
# requires-python = ">=3.10"
# dependencies = ["transformers==5.23.0", "jinja2==3.1.6", "datasets==5.2.0"]
# [tool.reader]
# dialects = ["sharegpt", "openai"]
# quick = true
# ///
"""datasets loads rows, and transformers renders them through three chat templates, as a trainer does.

Rows of ShareGPT are first renamed to roles, as trainers do. Every message must be in the text of every template, in order.
"""

import json
import os

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}

from command_line import main
from datasets import Dataset
from datasets.utils import disable_progress_bars
from judgement import texts
from outcomes import Red
from program import plain
from reader import Reader
from records import transcripts
from transformers.utils.chat_template_utils import render_jinja_template

CHATML = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
LLAMA = "{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n{{ m.content }}<|eot_id|>{% endfor %}"
MASKED = "{% for m in messages %}[{{ m.role }}]{% generation %}{{ m.content }}{% endgeneration %}[/]\n{% endfor %}"
SKIP = {
    "alpaca.jsonl": "pairs of questions and answers, which a trainer joins to messages",
    "zh-history.jsonl": "pairs of questions and answers, which a trainer joins to messages",
    "bfcl.jsonl": "lists of turns, which a trainer joins to messages",
    "verifiers.jsonl": "prompts and completions, which a trainer joins to messages",
    "preferences.jsonl": "a prompt with two answers, which a trainer renders apart",
    "labels.jsonl": "a prompt with an answer and its label, which a trainer judges apart",
    "blocks.json": "contents that are blocks",
    "chatbot-ui.json": "the export of a program, which a trainer does not load",
    "custom.jsonl": "contains speech, which these templates do not render",
    "written.jsonl": "calls that stand in a text, which these templates render as text",
    "reasoning.jsonl": "contains a refusal, which these templates do not render",
}
ROLES = {"human": "user", "gpt": "assistant", "function_call": "call", "observation": "result", "developer": "system", "tool": "result", "function": "result"}


def row(message):
    role = message.get("role") or message.get("from") or ""
    content = message.get("content", message.get("value", message.get("text")))
    blocks = [block["text"] for block in content if block.get("type") == "text"] if isinstance(content, list) else texts(content or "")
    content = "\n".join(blocks) if isinstance(content, list) else content
    calls = message.get("tool_calls") or ([message["function_call"]] if message.get("function_call") else [])
    return {"role": ROLES.get(role, role), "content": content or "", "calls": json.dumps(calls), "texts": blocks}


def load(path):
    found = []
    for messages, _ in transcripts(path):
        rows = list(Dataset.from_list([{"messages": [row(m) for m in messages]}])[0]["messages"])
        for template in (CHATML, LLAMA, MASKED):
            rendered, spans = render_jinja_template([rows], chat_template=template, return_assistant_tokens_mask=template is MASKED)
            text, at = plain(rendered[0]), 0
            for message in rows:
                at = text.find(plain(message["content"]), at)
                if at < 0:
                    raise Red(f"the template lost {message['content'][:60]!r}")
            if template is MASKED and len(spans[0]) != len(rows):
                raise Red(f"{len(spans[0])} masks for {len(rows)} messages")
        found.append(once([e for m in rows for e in events(m)]))
    return found


def events(message):
    if message["role"] in ("call", "result"):
        return [(message["role"], "tool")]
    return [(message["role"], text) for text in message["texts"]] + [("call", "tool")] * (message["calls"] != "[]")


def once(held):
    """Parallel calls and their results are one event each: rows of ShareGPT have no ids."""
    held = [(kind, "tool") if kind in ("call", "result") else (kind, text) for kind, text in held]
    return [event for nth, event in enumerate(held) if event[1] != "tool" or held[nth - 1 : nth] != [event]]


if __name__ == "__main__":
    disable_progress_bars()
    main(Reader(load, ["sharegpt", "openai"], data=["sharegpt"], adapt=once, skip=SKIP, planted=["sharegpt"]))
