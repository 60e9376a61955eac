// Threads, memory and large inputs.
"use strict";
const assert = require("node:assert/strict");
const { spawn, spawnSync } = require("node:child_process");
const { once } = require("node:events");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const test = require("node:test");
const { Worker } = require("node:worker_threads");
const { Curtail, window } = require("curtail-cli");
const { BIN, ROOT, chat, record } = require("./program.js");

const WORK = `
  const { parentPort } = require("node:worker_threads");
  const { Curtail, limit } = require("curtail-cli");
  const { chat, record } = require("./program.js");
  const texts = Array.from({ length: 60 }, (_, nth) => record(nth, 1 + nth % 9));
  const cut = [...new Curtail(["limit", "-t", "60"], { jobs: 2 }).map(texts)];
  try {
    limit([1n], 5);
  } catch (error) {
    cut.push(error.name);
  }
  parentPort.postMessage(cut);
`;

function worker() {
  return new Promise((resolve, reject) => {
    const worker = new Worker(WORK, { eval: true });
    let answer;
    worker.on("message", (message) => (answer = message));
    worker.on("error", reject);
    worker.on("exit", () => resolve(answer));
  });
}

test("eight workers cut at a time", async () => {
  const texts = Array.from({ length: 60 }, (_, nth) => record(nth, 1 + (nth % 9)));
  const want = [...new Curtail(["limit", "-t", "60"]).map(texts), "RecordError"];
  const answers = await Promise.all(Array.from({ length: 8 }, worker));
  for (const answer of answers) assert.deepEqual(answer, want);
});

test("workers may load the module alone, and end while others cut", () => {
  const script = `
    const { Worker } = require("node:worker_threads");
    const work = ${JSON.stringify(WORK)};
    let ended = 0;
    const start = () => new Worker(work, { eval: true }).on("exit", () => { ended += 1; if (ended === 16) console.log("all ended"); else if (ended <= 8) start(); });
    for (let nth = 0; nth < 8; nth++) start();
    const stopped = new Worker("require('curtail-cli'); for (;;) require('curtail-cli').window('[]');", { eval: true });
    setTimeout(() => stopped.terminate(), 300);
  `;
  const done = spawnSync(process.execPath, ["-e", script], { cwd: __dirname, encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  assert.equal(done.stdout, "all ended\n");
});

test("a chain with a chat template starts the program, and never the interpreter", () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "curtail-"));
  const template = path.join(ROOT, "fixtures/templates/chat_template.jinja");
  fs.writeFileSync(path.join(folder, "__render"), "require('node:fs').writeFileSync('started', '')");
  fs.writeFileSync(path.join(folder, "t.toml"), `[[history.processors]]\ntype = "limit"\nmax-tokens = 9000\ntemplate = "${template}"\n`);
  const script = `
    const { Curtail } = require(${JSON.stringify(require.resolve("curtail-cli"))});
    console.log(new Curtail(["run", "-c", "t.toml"]).one('[{"role":"user","content":"a"}]'));
  `;
  const env = { ...process.env, CURTAIL_PROGRAM: "" };
  const done = spawnSync(process.execPath, ["-e", script], { cwd: folder, env, encoding: "utf8" });
  assert.equal(done.stdout, '[{"role":"user","content":"a"}]\n', done.stderr);
  assert.ok(!fs.existsSync(path.join(folder, "started")));
  fs.rmSync(folder, { recursive: true });
});

/** The ids in a file, once there are some. */
async function idsIn(file) {
  for (;;) {
    const text = fs.existsSync(file) ? fs.readFileSync(file, "utf8").trim() : "";
    if (text) return text.split(" ").map(Number);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("a signal ends the program and what it started, and nothing is left", { timeout: 60_000 }, async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "curtail-"));
  const script = path.join(folder, "summarizer");
  fs.writeFileSync(script, 'echo $$ $PPID >"$1"\nexec sleep 60\n');
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    const ids = path.join(folder, signal);
    const words = ["summarize", "-n", "1", "--summarizer-cmd", `sh '${script}' '${ids}'`];
    const wrapper = spawn(BIN, words, { stdio: ["pipe", "ignore", "ignore"] });
    wrapper.stdin.end(JSON.stringify(chat()));
    const running = await idsIn(ids);
    wrapper.kill(signal);
    assert.deepEqual(await once(wrapper, "exit"), [128 + os.constants.signals[signal], null]);
    for (const id of running) assert.throws(() => process.kill(id, 0), { code: "ESRCH" });
  }
  fs.rmSync(folder, { recursive: true });
});

test("a program that a signal kills is reported as killed", { timeout: 60_000 }, async () => {
  const wrapper = spawn(BIN, ["window"], { stdio: ["pipe", "ignore", "ignore"] });
  const [id] = await idsIn(`/proc/${wrapper.pid}/task/${wrapper.pid}/children`);
  process.kill(id, "SIGTERM");
  assert.deepEqual(await once(wrapper, "exit"), [null, "SIGTERM"]);
});

test("objects that are dropped leave no memory", async () => {
  const text = record(1, 9);
  const make = async (count) => {
    for (let nth = 0; nth < count; nth++) {
      const cut = new Curtail(["window", "-n", `${1 + (nth % 50)}`]);
      cut.one(text);
      window(chat(), 1 + (nth % 40));
      // Finalizers run when the loop turns.
      if (nth % 100 === 0) await new Promise(setImmediate);
    }
  };
  const megabytes = async () => {
    globalThis.gc();
    await new Promise(setImmediate);
    globalThis.gc();
    return process.memoryUsage().rss / 1e6;
  };
  await make(1000);
  const before = await megabytes();
  await make(10_000);
  const after = await megabytes();
  assert.ok(after - before < 25, `${before} to ${after} MB`);
});

test("a large transcript is cut", () => {
  const said = "word ".repeat(1000);
  const messages = Array.from({ length: 4000 }, (_, nth) => ({ role: nth % 2 ? "assistant" : "user", content: `${nth} ${said}` }));
  const cut = window(messages, 3);
  assert.deepEqual(cut, messages.slice(-cut.length));
  const bytes = Buffer.from(JSON.stringify(messages));
  assert.ok(bytes.length > 20e6);
  assert.deepEqual(JSON.parse(window(bytes, 3)), cut);
});
