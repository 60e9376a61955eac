# /// script
# requires-python = ">=3.10"
# dependencies = []
# [tool.reader]
# dialects = ["ai-sdk"]
# npm = ["ai@6.0.326", "zod@4.6.7"]
# quick = true
# ///
"""npm `ai` makes messages with a model and tools of its own; UI messages pass `validateUIMessages` and `convertToModelMessages`, model messages its schema of prompts."""

import json
import os
import subprocess

from dataclasses import asdict

from command_line import main
from conversation import SYSTEM, TURNS
from program import WAIT
from reader import Reader
from records import lines, transcripts

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

# A model that says what the conversation says, with tools that say what it says, or throw it.
MAKE = """
import { convertToModelMessages, generateText, readUIMessageStream, simulateReadableStream, stepCountIs, streamText, tool } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { z } from 'zod';
const { system, turns } = JSON.parse(await new Response(process.stdin).text());
const usage = { inputTokens: { total: 9 }, outputTokens: { total: 5 } };
const chunks = part => part.type === 'tool-call' ? [part] : [
  { type: `${part.type}-start`, id: 'p' }, { type: `${part.type}-delta`, id: 'p', delta: part.text }, { type: `${part.type}-end`, id: 'p' },
];
function answering(turn) {
  const steps = turn.calls.length ? [[
    ...(turn.thought ? [{ type: 'reasoning', text: turn.thought }] : []),
    ...(turn.said ? [{ type: 'text', text: turn.said }] : []),
    ...turn.calls.map(c => ({ type: 'tool-call', toolCallId: c.id, toolName: c.name, input: JSON.stringify(c.arguments) })),
  ]] : [];
  steps.push([{ type: 'text', text: turn.answer }]);
  let at = 0;
  const finish = () => ({ finishReason: { unified: steps[at] ? 'tool-calls' : 'stop' }, usage });
  const model = new MockLanguageModelV3({
    doGenerate: async () => ({ content: steps[at++], ...finish(), warnings: [] }),
    doStream: async () => {
      const said = steps[at++].flatMap(chunks);
      return { stream: simulateReadableStream({ chunks: [...said, { type: 'finish', ...finish() }] }) };
    },
  });
  const called = Object.fromEntries(turn.calls.map(c => [c.id, c]));
  const execute = async (_, { toolCallId }) => {
    if (called[toolCallId].failed) throw new Error(called[toolCallId].result);
    return { said: called[toolCallId].result };
  };
  const tools = Object.fromEntries(turn.calls.map(c => [c.name, tool({ inputSchema: z.any(), execute })]));
  return { model, tools, stopWhen: stepCountIs(3), onError: () => {} };
}
const model = [], ui = [];
for (const [number, turn] of turns.entries()) {
  model.push({ role: 'user', content: turn.asked });
  model.push(...(await generateText({ ...answering(turn), messages: model, system })).response.messages);
  ui.push({ id: `u${number}`, role: 'user', parts: [{ type: 'text', text: turn.asked }] });
  const answer = streamText({ ...answering(turn), messages: await convertToModelMessages(ui), system });
  let last;
  for await (const message of readUIMessageStream({ stream: answer.toUIMessageStream({ generateMessageId: () => `a${number}` }) })) last = message;
  ui.push(last);
}
console.log(JSON.stringify({ model: [{ role: 'system', content: system }, ...model], ui }));
"""


def node(script, given):
    command = ["node", "--input-type=module", "-e", script]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, timeout=WAIT, cwd=os.environ["READER_HOME"])
    if done.returncode:
        raise ValueError(next((line for line in done.stderr.splitlines() if "Error" in line), done.stderr[:300]))
    return json.loads(done.stdout)


def made():
    lists = node(MAKE, {"system": SYSTEM, "turns": [asdict(turn) for turn in TURNS]})
    for name, messages in lists.items():
        yield f"{name}.json", messages
        yield f"{name}.jsonl", lines(messages)
        yield f"{name}-chats.jsonl", lines([{"id": "c1", "messages": messages}, {"id": "c2", "messages": messages[:5]}])


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
    lists = node(SCRIPT, [messages for messages, _ in transcripts(path)])
    return [[e for m in messages for e in events(m)] for messages in lists]


if __name__ == "__main__":
    main(Reader(load, ["ai-sdk"], data=["ai-sdk"], made=made, skip={"v4.jsonl": "messages of version 4"}))
