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
  limit: ["limit", "-t", "20"],
  truncate: ["limit", "-t", "20", "--on-overflow", "truncate"],
  "no tools": ["filter", "-x", "*"],
  clear: ["filter", "--keep-last-results", "0"],
  cap: ["filter", "--cap-result", "32"],
  repair: ["repair", "--mode", "stub"],
  summarize: ["summarize", "-n", "2"],
  chain: ["window", "-n", "3", "--repair", "drop"],
};

const DIALECTS = ["agentkit", "ai-sdk", "anthropic", "gemini", "langchain", "openai", "responses", "sharegpt"];

/** What changes no fixture: most results are short, no pair of ShareGPT is broken, and AgentKit's have one turn. */
const UNCHANGED = /^cap: (?!openai)|^(repair|chain): sharegpt$|^limit: agentkit$/;

/** The lines of a dialect's fixtures that are records, and the fixtures whose lines are messages, as lists of them, also without
 * their first two, which breaks pairs. */
function fixtures(dialect) {
  const folder = path.join(ROOT, "fixtures/dialects", dialect);
  const names = fs.readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  return names.flatMap((name) => {
    const lines = fs.readFileSync(path.join(folder, name), "utf8").trim().split("\n").map((line) => JSON.parse(line));
    return [lines, [lines, lines.slice(2)]].find(areRecords) ?? [];
  });
}

/** Whether the program reads each of these as a record. */
function areRecords(records) {
  const input = records.map((record) => `${JSON.stringify(record)}\n`).join("");
  return run(["window", "-n", "2", "--framing", "records"], input).status === 0;
}

const RECORDS = Object.fromEntries(DIALECTS.map((dialect) => [dialect, fixtures(dialect)]));

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
      const records = RECORDS[dialect];
      const texts = records.map((one) => JSON.stringify(one));
      const { want, cut } = compare(words, texts);
      assert.equal(want.some((line, nth) => line !== texts[nth]), !UNCHANGED.test(`${policy}: ${dialect}`));
      const answers = cut(records);
      assert.deepEqual(answers, want.map((line) => JSON.parse(line)));
      for (const [nth, answer] of answers.entries()) {
        if (!Array.isArray(answer)) continue;
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
