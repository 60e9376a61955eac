# /// script
# requires-python = ">=3.10"
# dependencies = []
# [tool.reader]
# dialects = ["ai-sdk"]
# npm = ["ai@6.0.326", "zod@4.6.7"]
# quick = true
# ///
"""npm `ai`: UI messages pass `validateUIMessages` and `convertToModelMessages`, model messages its schema of prompts."""

import json
import os
import subprocess

from shared import WAIT, main, transcripts

SCRIPT = """
import { convertToModelMessages, modelMessageSchema, validateUIMessages } from 'ai';
import { z } from 'zod';
const lists = JSON.parse(await new Response(process.stdin).text());
const out = [];
for (const messages of lists) {
  const ui = messages.some(m => m.parts);
  const held = ui ? await validateUIMessages({ messages }) : z.array(modelMessageSchema).parse(messages);
  if (ui) await convertToModelMessages(held);
  out.push(held);
}
console.log(JSON.stringify(out));
"""


def events(message):
    role, parts = message["role"], message.get("parts") or message["content"]
    for part in [{"type": "text", "text": parts}] if isinstance(parts, str) else parts:
        kind = part["type"]
        if kind == "text":
            yield (role, part["text"])
        elif kind == "tool-call":
            yield ("call", part["toolCallId"])
        elif kind == "tool-result":
            yield ("result", part["toolCallId"])
        elif kind.startswith("tool-approval-re"):
            yield ("call" if kind.endswith("request") else "result", part["approvalId"])
        elif kind.startswith("tool-") and "toolCallId" in part or kind == "dynamic-tool":
            yield ("call", part["toolCallId"])
            if part.get("state", "").startswith("output"):
                yield ("result", part["toolCallId"])


def load(path):
    given = json.dumps([messages for messages, _ in transcripts(path)])
    command = ["node", "--input-type=module", "-e", SCRIPT]
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=WAIT, cwd=os.environ["READER_HOME"])
    if done.returncode:
        raise ValueError(next((line for line in done.stderr.splitlines() if "Error" in line), done.stderr[:300]))
    return [[e for m in messages for e in events(m)] for messages in json.loads(done.stdout)]


if __name__ == "__main__":
    main(load, ["ai-sdk"], data=["ai-sdk"], skip={"v4.jsonl": "messages of version 4"})
