// The program, and transcripts, for the tests.
"use strict";
const { spawnSync } = require("node:child_process");
const path = require("node:path");

const ROOT = process.env.CURTAIL_ROOT;
/** The program of the package, as npm links it. */
const BIN = path.join(__dirname, "node_modules/.bin/curtail");

/** Runs the program of the package by itself. */
function run(words, input = "") {
  return spawnSync(BIN, words, { input, encoding: "utf8", maxBuffer: 1 << 28 });
}

const CALL = { id: "c1", type: "function", function: { name: "timetable", arguments: "{}" } };

/** A conversation with a call and its result. */
function chat() {
  return [
    { role: "system", content: "Be brief." },
    { role: "user", content: "When does the first train leave?" },
    { role: "assistant", content: null, tool_calls: [CALL] },
    { role: "tool", tool_call_id: "c1", content: "05:12 ".repeat(40) },
    { role: "assistant", content: "At 05:12." },
    { role: "user", content: "And the last one?" },
  ];
}

/** A record of `rounds` rounds, formatted as no serializer would write it. */
function record(number, rounds = 4) {
  const messages = ['{"role": "system", "content": "be brief"}'];
  for (let turn = 0; turn < rounds; turn++) {
    const call = `{"id": "c${turn}", "type": "function", "function": {"name": "look", "arguments": "{}"}}`;
    messages.push(
      `{ "role":"user", "content": "question ${turn} of ${number}" }`,
      `{"role": "assistant", "content": null, "tool_calls": [${call}]}`,
      `{"role": "tool", "tool_call_id": "c${turn}", "content": "found \\u0022${turn}\\u0022"}`,
      `{"role": "assistant", "content": "answer  ${turn}", "weight": 1.0e0}`,
    );
  }
  return `{"id": ${number}, "messages": [${messages.join(", ")}]}`;
}

module.exports = { BIN, CALL, ROOT, chat, record, run };
