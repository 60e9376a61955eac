// The types, as the compiler of TypeScript reads them in modules of both kinds.
"use strict";
const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const test = require("node:test");

const TYPED = `
interface Message { role: "user" | "assistant"; content: string }
const messages: Message[] = [{ role: "user", content: "a" }];
const kept: Message[] = window(messages, 40, { preserveSystem: false, pin: ["first-user"] });
const text: string = limit("[]" as string, "8k", { onOverflow: "keep-newest" });
const data: Uint8Array = filter(new Uint8Array(), { role: "user" });
const windows: Message[][] = split(messages, 1000);
const findings: Finding[] = check(messages, { profile: "anthropic" });
const at: number | undefined = findings[0]?.at.message;
const tokens: number = count({ messages });
const passed: boolean = verify(messages, repair(messages, "drop")).summary.passed;
const cut = new Curtail(["limit", "-t", "8k"], { jobs: 0 });
const report: Report = cut.explain(messages);
const later: Promise<Message[]> = cut.oneAsync(messages);
for (const answer of cut.map([messages])) answer.push(messages[0]!);
for (const answer of cut.map(["a"], { onError: "return" })) if (answer instanceof RecordError) answer.reason.trim();
export { at, data, kept, later, passed, report, text, tokens, windows };
`;
const NAMES = "Curtail, RecordError, check, count, filter, limit, repair, split, verify, window, type Finding, type Report";
const BAD = `
window(messages, "many");
limit(messages);
window(messages, 3, { nothing: true });
const wrong: number = kept;
export { wrong };
`;

test("the compiler knows the types", () => {
  const folder = fs.mkdtempSync(path.join(__dirname, "types-"));
  try {
    const write = (name, body) => fs.writeFileSync(path.join(folder, name), `import { ${NAMES} } from "curtail-cli";\n${body}`);
    write("good.mts", TYPED);
    write("good.cts", TYPED);
    write("bad.mts", TYPED + BAD);
    const flags = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--types", "node"];
    const compile = (...files) => spawnSync(path.join(__dirname, "node_modules/.bin/tsc"), [...flags, ...files], { cwd: folder, encoding: "utf8" });
    const good = compile("good.mts", "good.cts");
    assert.equal(good.status, 0, good.stdout);
    const bad = compile("bad.mts");
    assert.equal(bad.stdout.match(/error TS/g)?.length, 4, bad.stdout);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});
