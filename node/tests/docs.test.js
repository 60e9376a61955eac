// Each code block of the pages runs by itself, prints what its `//>` lines say, and is short enough to be copied.
"use strict";
const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const test = require("node:test");
const { ROOT, record } = require("./program.js");

const LONGEST = 36;

for (const page of ["node.md", "recipes/node-frameworks.md"]) {
  const text = fs.readFileSync(path.join(ROOT, "docs", page), "utf8");
  const blocks = Array.from(text.matchAll(/^```js\n(.*?)^```/gms));
  assert.ok(blocks.length > 2, page);
  for (const { 1: code, index } of blocks) {
    const place = `${page}:${text.slice(0, index).split("\n").length + 1}`;
    test(place, () => {
      assert.ok(code.split("\n").length <= LONGEST);
      const folder = fs.mkdtempSync(path.join(__dirname, "block-"));
      try {
        fs.writeFileSync(path.join(folder, "chats.jsonl"), Array.from({ length: 40 }, (_, nth) => `${record(nth, 1 + (nth % 9))}\n`).join(""));
        fs.writeFileSync(path.join(folder, "block.mjs"), code);
        const done = spawnSync(process.execPath, ["block.mjs"], { cwd: folder, encoding: "utf8", timeout: 120_000 });
        assert.equal(done.status, 0, done.stderr);
        assert.deepEqual(done.stdout.trimEnd().split("\n"), Array.from(code.matchAll(/^ *\/\/> (.*)$/gm), ([, line]) => line));
      } finally {
        fs.rmSync(folder, { recursive: true });
      }
    });
  }
}
