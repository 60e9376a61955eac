// The policies as functions: the same objects, options that are the flags, and errors that say what to do.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const test = require("node:test");
const curtail = require("curtail-cli");
const { chat, run } = require("./program.js");

const { ArgumentError, Curtail, RecordError } = curtail;

test("kept messages are the same objects", () => {
  const messages = chat();
  const cut = curtail.window(messages, 3);
  assert.deepEqual(cut, new Curtail(["window", "-n", "3"]).one(messages));
  assert.ok(cut.length < messages.length && cut.every((message) => messages.includes(message)));
  assert.equal(curtail.window(messages), messages);
  assert.equal(curtail.limit(messages, "8k"), messages);
  assert.equal(curtail.repair(messages), messages);
  const record = { id: 1, messages, tools: [1], tag: Symbol.for("kept"), gone: undefined, work() {} };
  const short = curtail.limit(record, 60, { pin: ["first-user"] });
  assert.equal(short.tools, record.tools);
  assert.equal(short.messages[1], messages[1]);
  assert.deepEqual(Reflect.ownKeys(short), Reflect.ownKeys(record));
  assert.equal(record.messages, messages);
  const tools = [{ type: "function", function: { name: "timetable", parameters: {} } }];
  const request = curtail.limit({ tools, messages }, 90, { pin: ["first-user"] });
  assert.equal(request.tools, tools);
  assert.ok(request.messages.length < messages.length && request.messages.every((message) => messages.includes(message)));
  const cleared = curtail.filter(messages, { keepLastResults: 0 });
  assert.deepEqual(messages.filter((message, nth) => message !== cleared[nth]), [messages[3]]);
  assert.equal(cleared[3].content, "[cleared]");
  assert.deepEqual(curtail.filter(messages, { role: ["user"] }), [messages[1], messages[5]]);
});

test("of messages that are alike, the newest are kept", () => {
  const alike = Array.from({ length: 9 }, () => ({ role: "user", content: "again" }));
  const cut = curtail.window(alike, 3);
  assert.equal(cut.length, 3);
  cut.forEach((message, nth) => assert.equal(message, alike[6 + nth]));
});

test("text and bytes stay what they are", () => {
  const messages = chat();
  const text = JSON.stringify(messages);
  const want = JSON.stringify(messages.slice(4));
  assert.equal(curtail.window(text, 1, { preserveSystem: false }), want);
  for (const bytes of [Buffer.from(text), new TextEncoder().encode(text), new TextEncoder().encode(text).buffer]) {
    const cut = curtail.window(bytes, 1, { preserveSystem: false });
    assert.ok(Buffer.isBuffer(cut));
    assert.equal(cut.toString(), want);
    assert.equal(curtail.window(bytes), bytes);
  }
  assert.equal(curtail.window(` ${text}\n`, 1, { preserveSystem: false }).trim(), want);
});

test("pairs are found, repaired and counted", () => {
  const messages = chat();
  const orphan = [messages[1], messages[3], messages[4]];
  const [finding] = curtail.check(orphan);
  assert.equal(finding.rule, "orphan-result");
  assert.equal(finding.at.pointer, "/1");
  assert.match(finding.providerAnswer, /tool_calls/);
  assert.deepEqual(curtail.check(orphan, { allow: "orphan-result" }), []);
  assert.deepEqual(curtail.check(curtail.repair(orphan, "drop")), []);
  const whole = curtail.count(messages);
  assert.ok(0 < curtail.count(messages.slice(0, 2)) && curtail.count(messages.slice(0, 2)) < whole);
  assert.equal(curtail.count(JSON.stringify(messages)), whole);
  assert.notEqual(curtail.count(messages, { tokenizer: "approx" }), 0);
});

test("a split has every message", () => {
  const messages = Array.from({ length: 16 }, (_, nth) => ({ role: nth % 2 ? "assistant" : "user", content: `part ${nth} `.repeat(9) }));
  const windows = curtail.split(messages, 120);
  assert.ok(windows.length > 1);
  assert.deepEqual(windows.flat(), messages);
  assert.ok(windows.flat().every((message) => messages.includes(message)));
  assert.deepEqual(curtail.split(chat(), "8k"), [chat()]);
  assert.deepEqual([...new Curtail(["split", "-t", "120"]).map([messages])], windows);
});

test("each window ends as its record did", () => {
  const split = new Curtail(["split", "-t", "2"]);
  const turn = '{"role":"user","content":"a"}\n{"role":"assistant","content":"b"}\n';
  const record = `[${turn.repeat(3).trim().replaceAll("\n", ",")}]`;
  const windows = split.one(record);
  assert.ok(windows.length > 1 && windows.every((window) => window.endsWith("]")));
  assert.deepEqual(split.one(`${record}\n`), windows.map((window) => `${window}\n`));
  assert.throws(() => split.whole(turn.repeat(3)), (error) => error instanceof RecordError && /becomes 3 transcripts/.test(error.message));
});

test("a cut is verified and explained", () => {
  const messages = chat();
  const lost = curtail.verify(messages, curtail.window(messages, 1));
  assert.equal(lost.summary.pairs, 1);
  assert.ok(lost.pairs[0].before.tokens > lost.pairs[0].after.tokens);
  assert.ok(curtail.verify(messages, messages, { minKept: "90%" }).summary.passed);
  const report = new Curtail(["limit", "-t", "60"]).explain(messages);
  assert.deepEqual([report.messagesBefore, report.messagesAfter], [6, curtail.limit(messages, 60).length]);
  assert.ok(report.tokensAfter <= 60 && 60 < report.tokensBefore);
  assert.ok(report.explanations.some(({ policy, outcome }) => policy === "limit" && outcome.startsWith("dropped")));
});

test("values that JSON lacks come back", () => {
  const [at, link, bytes] = [new Date(0), new URL("https://example.com/a"), new Uint8Array([137, 80])];
  const messages = chat();
  Object.assign(messages[3], { at, more: { link, list: [bytes] }, gone: undefined });
  const cleared = curtail.filter(messages, { capResult: 32 })[3];
  assert.notEqual(cleared, messages[3]);
  assert.equal(cleared.at, at);
  assert.equal(cleared.more.link, link);
  assert.equal(cleared.more.list[0], bytes);
  const odd = chat();
  odd.push(JSON.parse('{"role":"user","content":"x","__proto__":{"a":1}}'));
  assert.equal(curtail.window(odd, 1).at(-1), odd[6]);
  const image = { role: "user", content: [{ type: "image", image: new Uint8Array(300_000) }, { type: "text", text: "What is this?" }] };
  assert.ok(curtail.count([image], { dialect: "ai-sdk" }) < 10_000);
  assert.equal(curtail.window([image, image, image], 1)[0], image);
});

test("an object that says how it is written is what it says", () => {
  class Said {
    constructor(content) {
      this.hidden = 1n;
      this.content = content;
    }
    toJSON() {
      return { role: "user", content: this.content };
    }
  }
  const messages = ["a", "b", "c"].map((text) => new Said(text));
  assert.deepEqual(curtail.window(messages, 1), [messages[2]]);
  const prompt = { toJSON: () => ({ id: 7, messages }) };
  assert.deepEqual(curtail.window(prompt, 1), { id: 7, messages: [messages[2]] });
});

test("errors say where and what", () => {
  const messages = chat();
  const self = chat();
  self[1].self = self;
  const deep = { messages: JSON.parse(`${"[".repeat(2000)}${"]".repeat(2000)}`) };
  const cases = [
    [undefined, /the record is undefined; pass messages/],
    [null, /the record is null; pass messages/],
    [7, /the record is a number; pass/],
    [() => messages, /the record is a function; pass/],
    [Promise.resolve(messages), /the record is a Promise/],
    [new Map(), /the record is a Map, which JSON does not have/],
    [[...messages, undefined], /\/6 is undefined/],
    [[{ role: "user", content: [1, () => 2] }], /\/0\/content\/1 is a function/],
    [[{ role: "user", content: "a", n: 10n }], /\/0\/n is a BigInt/],
    [[{ role: "user", content: "a", n: NaN }], /\/0\/n is NaN, which JSON does not have/],
    [[{ role: "user", content: [1, -Infinity] }], /\/0\/content\/1 is -Infinity/],
    [[{ role: "user", content: "a", n: { toJSON: () => 10n } }], /\/0\/n is a BigInt/],
    [{ toJSON: () => 10n }, /the record is a BigInt/],
    [{ messages: [{ role: "user", content: new Set() }] }, /\/messages\/0\/content is a Set/],
    [self, /levels deep, or contains itself/],
    [deep, /levels deep, or contains itself/],
    ["[{", /column 3: the text ends inside a value/],
    ['["\ud800"]', /column 3: text that is not Unicode/],
    [Buffer.from([0x5b, 0xff]), /column 2: invalid UTF-8/],
    [Buffer.from([0x1f, 0x8b, 8]), /decompress them first/],
    [{ a: 1 }, /no list of messages/],
  ];
  for (const [record, message] of cases) {
    const policy = new Curtail(["window"]);
    for (const work of [curtail.window, curtail.count, (one) => policy.one(one), (one) => policy.explain(one)]) {
      assert.throws(() => work(record), (error) => error instanceof RecordError && error instanceof curtail.CurtailError && message.test(error.message), String(message));
    }
  }
  assert.throws(() => curtail.check([1n]), RecordError);
  assert.equal(curtail.check("[{")[0].rule, "invalid-json");
  const long = [{ role: "system", content: "word ".repeat(90) }, ...chat().slice(1)];
  assert.throws(() => new Curtail(["limit", "-t", "1"]).explain(long), (error) => error instanceof RecordError && error.index === 0);
  assert.throws(() => curtail.limit({ messages: 5 }, 10), (error) => error.name === "RecordError" && error.index === 0 && error.column === 1);
});

test("the message of an error shows whole characters, and codes for what a terminal obeys", () => {
  const message = (record) => {
    try {
      curtail.window(record);
    } catch (error) {
      return error.message;
    }
  };
  assert.ok(message(`{${"a".repeat(198)}🐟🐟`).endsWith(`: {${"a".repeat(198)}🐟…`));
  assert.ok(message('{"\x1b[2J\u202e').endsWith(': {"⟨U+001B⟩[2J⟨U+202E⟩'));
  assert.ok(message({ "\x1b[2J": 1n }).includes("/⟨U+001B⟩[2J is a BigInt"));
});

test("errors name the option", () => {
  const messages = chat();
  const cases = [
    [() => curtail.limit(messages, 8000, { pin: "nobody" }), /--pin/],
    [() => curtail.limit(messages, "a lot"), /max-tokens/],
    [() => curtail.limit(messages), /max-tokens/],
    [() => curtail.repair(messages, "guess"), /mode/],
    [() => curtail.window(messages, 3, { nothing: true }), /^unexpected argument '--nothing' found$/],
    [() => curtail.window(messages, 3, { pin: { a: 1 } }), /pin is text, a number, a boolean or a list, not object/],
    [() => curtail.window(messages, 3, { output: "x" }), /--output: the result is a value/],
    [() => curtail.split(messages, 8000, { map: "map.jsonl" }), /--map: the windows are values/],
    [() => curtail.check(messages, { baseline: "known.json" }), /--baseline: the findings are values/],
    [() => curtail.verify(messages, "[{", { minKept: "x" }), /min-kept/],
    [() => new Curtail("window -n 3"), /args is a list of words, such as \["window","-n","3"\]/],
    [() => new Curtail([]), /no command/],
    [() => new Curtail(["memory"]), /keeps state between runs/],
    [() => new Curtail(["constructor"]), /^`constructor` is not one of window, limit/],
    [() => new Curtail(["view"]), /is not one of window, limit/],
    [() => new Curtail(["window", "chats.jsonl"]), /pass no PATH/],
    [() => new Curtail(["check"]).one(messages), /cuts nothing/],
    [() => new Curtail(["window"]).whole("{}", "rows"), /framing is/],
    [() => new Curtail(["window"]).map([], { onError: "raise" }), /onError is one of throw/],
    [() => new Curtail(["window"]).map("chats.jsonl"), /map takes an iterable of records/],
    [() => new Curtail(["window"]).map({ messages }), /map takes an iterable of records/],
    [() => new Curtail(["check"]).map([]), /cuts nothing/],
    [() => new Curtail(["check"]).checkAll("[]"), /checkAll takes an iterable of records, and this is one value: use check\(\)/],
    [() => new Curtail(["check"]).checkAll(Buffer.from("[]")), /checkAll takes an iterable of records/],
    [() => new Curtail(["check"]).checkAll({ messages }), /checkAll takes an iterable of records/],
    [() => new Curtail(["window"], { jobs: -1 }), /jobs is a number of threads/],
    [() => curtail.window([messages, messages], 2), /this is a list of lists/],
  ];
  for (const [work, message] of cases) {
    assert.throws(work, (error) => error instanceof ArgumentError && error.name === "ArgumentError" && message.test(error.message), String(message));
  }
});

test("records are cut in order, and errors handled as asked", async () => {
  const cut = new Curtail(["window", "-n", "1"]);
  const records = ["[]", "[{", JSON.stringify(chat()), undefined];
  const good = JSON.stringify([chat()[0], chat()[4], chat()[5]]);
  assert.throws(() => [...cut.map(records)], (error) => error instanceof RecordError && error.index === 1);
  assert.deepEqual([...cut.map(records, { onError: "skip" })], ["[]", good]);
  assert.deepEqual([...cut.map(records, { onError: "keep", ahead: 1 })], ["[]", "[{", good, undefined]);
  const [, second, , fourth] = cut.map(records, { onError: "return" });
  assert.ok(second instanceof RecordError && fourth.index === 3);
  const many = Array.from({ length: 1500 }, (_, nth) => [...chat(), { role: "user", content: `${nth}` }]);
  const done = [...new Curtail(["window", "-n", "1"], { jobs: 0 }).map(many)];
  assert.ok(done.every((one, nth) => one.at(-1) === many[nth][6]));
  function* failing() {
    yield "[]";
    throw new TypeError("mine");
  }
  assert.throws(() => [...cut.map(failing())], new TypeError("mine"));
  assert.equal(await cut.oneAsync(records[2]), good);
  await assert.rejects(cut.oneAsync("[{"), RecordError);
  const twice = await Promise.all(many.slice(0, 50).map((one) => cut.oneAsync(one)));
  assert.ok(twice.every((one, nth) => one.at(-1) === many[nth][6]));
  assert.deepEqual(new Curtail(["check", "--warn", "duplicate-transcript"]).checkAll([chat(), chat()]).map((found) => found.length), [0, 1]);
  const lines = chat().map((message) => JSON.stringify(message));
  assert.equal(new Curtail(["window", "-n", "1", "--no-preserve-system"]).whole(lines.join("\n")), lines.slice(4).join("\n"));
});

test("notes are warnings, each once", async () => {
  const warnings = [];
  const listen = (warning) => warnings.push(warning);
  process.on("warning", listen);
  const cut = new Curtail(["limit", "-t", "5", "--on-overflow", "keep-newest"]);
  const records = [chat(), chat()];
  assert.equal([...cut.map(records)].length, 2);
  await new Promise(setImmediate);
  process.off("warning", listen);
  const said = warnings.filter(({ name, message }) => name === "CurtailWarning" && message.includes("newest segment alone"));
  assert.equal(said.length, 1);
  assert.match(said[0].message, /^record 0: /);
});

/** What a function cannot have: names of files, reports, and what is an argument of its own. */
const NO_OPTIONS = new Set(
  `path glob excludePath framing dialectFile column maxRecord stdinFilename output outputDir inPlace asNewSession followLinks force
  resume noSync onError rejects explain dryRun stats failOnChange jobs quiet verbose color progress help noPreserveSystem damaged
  dropRecordsWith map hidden noIgnore`.split(/\s+/),
);
/** Flags of `filter` that only belong to `--drop-records-with`. */
const COUNTING = ["maxTokens", "tokenizer", "model", "overhead", "reserve", "template", "tools", "addGenerationPrompt"];
/** What is an argument. */
const ARGUMENTS = { window: ["size"], limit: ["maxTokens"], filter: [], repair: ["mode"], split: ["maxTokens"] };

test("options are the flags", () => {
  const types = fs.readFileSync(path.join(path.dirname(require.resolve("curtail-cli")), "index.d.ts"), "utf8");
  const members = (name) => {
    const [, parents = "", body] = types.match(new RegExp(`interface ${name}(?: extends ([^{]+))? \\{\\n([^}]*)\\}`));
    const own = Array.from(body.matchAll(/^ {2}(\w+)\?:/gm), ([, option]) => option);
    const inherited = parents.split(/,\s*(?![^<]*>)/).filter(Boolean).flatMap((parent) => {
      const [, base, omitted] = parent.match(/^(?:Omit<)?(\w+)(?:, "(\w+)">)?/);
      return members(base).filter((option) => option !== omitted);
    });
    return [...own, ...inherited];
  };
  for (const [name, positional] of Object.entries(ARGUMENTS)) {
    const help = run([name, "--help"]).stdout;
    const flags = Array.from(help.matchAll(/^ {2}(?:-\w, | {4})--([a-z][a-z-]+)/gm), ([, flag]) => flag.replace(/-(.)/g, (_, letter) => letter.toUpperCase()));
    const known = new Set(flags.filter((flag) => !NO_OPTIONS.has(flag) && flag !== "repair" && !(name === "filter" && COUNTING.includes(flag))));
    const interfaceOf = `${name[0].toUpperCase()}${name.slice(1)}Options`;
    const options = new Set([...members(interfaceOf), ...positional].filter((option) => option !== "repair"));
    assert.ok(known.size > 3, help);
    assert.deepEqual([...options].sort(), [...known].sort(), name);
  }
});

test("modules of both kinds have the same names", async () => {
  const module = await import("curtail-cli");
  assert.deepEqual(Object.keys(module).filter((name) => name !== "default" && name !== "module.exports").sort(), Object.keys(curtail).sort());
  assert.equal(module.window, curtail.window);
});
