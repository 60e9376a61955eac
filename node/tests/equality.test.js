// Every policy on transcripts of several formats: text, bytes and objects are cut as the program cuts the file.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const test = require("node:test");
const { Curtail } = require("curtail-cli");
const { ROOT, record, run } = require("./program.js");

const POLICIES = {
  window: ["window", "-n", "2"],
  sliding: ["window", "-n", "4", "--strategy", "sliding", "--pin", "first-user"],
  limit: ["limit", "-t", "60"],
  truncate: ["limit", "-t", "40", "--on-overflow", "truncate"],
  "no tools": ["filter", "-x", "*"],
  clear: ["filter", "--keep-last-results", "0"],
  cap: ["filter", "--cap-result", "32"],
  repair: ["repair", "--mode", "stub"],
  summarize: ["summarize", "-n", "2"],
  chain: ["window", "-n", "3", "--repair", "drop"],
};

const DIALECTS = ["agentkit", "ai-sdk", "anthropic", "gemini", "langchain", "openai", "responses", "sharegpt"];

/** The fixtures of a dialect whose lines are messages, as lists of them. */
function lists(dialect) {
  const folder = path.join(ROOT, "fixtures/dialects", dialect);
  const texts = fs.readdirSync(folder).filter((name) => name.endsWith(".jsonl")).map((name) => fs.readFileSync(path.join(folder, name), "utf8"));
  const read = (text) => text.trim().split("\n").map((line) => JSON.parse(line));
  return texts.flatMap((text) => {
    try {
      // What is cut is a list of messages; a fixture may have a record on each line instead.
      const items = read(text);
      return items.some(Array.isArray) ? [] : [items];
    } catch {
      return [];
    }
  });
}

function compare(words, texts) {
  const done = run([...words, "--framing", "records", "--on-error", "keep"], texts.map((text) => `${text}\n`).join(""));
  const want = done.stdout.split("\n").slice(0, -1);
  const cut = (records) => [...new Curtail(words).map(records, { onError: "keep" })];
  assert.deepEqual(cut(texts), want, done.stderr);
  assert.deepEqual(cut(texts.map((text) => Buffer.from(text))).map(String), want);
  return { want, cut };
}

for (const [policy, words] of Object.entries(POLICIES)) {
  for (const dialect of DIALECTS) {
    test(`${policy}: ${dialect}`, () => {
      const records = lists(dialect);
      assert.ok(records.length > 2);
      const { want, cut } = compare(words, records.map((one) => JSON.stringify(one)));
      const answers = cut(records);
      assert.deepEqual(answers, want.map((line) => JSON.parse(line)));
      for (const [nth, answer] of answers.entries()) {
        // What has the same JSON is the same object.
        const old = new Map(records[nth].map((message) => [JSON.stringify(message), message]));
        for (const message of answer) {
          const same = old.get(JSON.stringify(message));
          assert.ok(same === undefined || records[nth].includes(message));
        }
      }
    });
  }
  test(`${policy}: text as nobody writes it`, () => compare(words, Array.from({ length: 20 }, (_, nth) => record(nth, 1 + (nth % 5)))));
}
