// Compares the module with loops in JavaScript, which cut to a budget or to a number of messages. Usage: node node.mjs FILE [BUDGET [ROUNDS]]
//
// FILE has a record with `messages` or `traj` on every line. The usual loop counts every message and drops the oldest until the rest fits; the lazy one
// counts from the end and stops at the budget. Both keep the system messages, count with gpt-tokenizer and separate calls from results.
// `pruneMessages` of the AI SDK drops calls and results before the last ten messages, as `window -n 10` drops all that is older. Times are
// CPU seconds of the process. Needs gpt-tokenizer, ai and curtail-cli, with a module of the release profile, beside this file or above it.
import { readFileSync } from "node:fs";
import { pruneMessages } from "ai";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { Curtail } from "curtail-cli";

const [path, budget = "4000", rounds = "5"] = process.argv.slice(2);
const texts = readFileSync(path, "utf8").trimEnd().split("\n");
const KEY = "traj" in JSON.parse(texts[0]) ? "traj" : "messages";
const objects = texts.map((text) => JSON.parse(text)[KEY]);
const models = objects.map((messages) => messages.map(modelMessage));
const size = texts.reduce((size, text) => size + Buffer.byteLength(text), 0) / 1e6;

/** A message of the AI SDK. */
function modelMessage({ role, content, tool_calls: calls = [], tool_call_id: toolCallId = "0", name: toolName = "tool" }) {
  if (role === "system" || role === "user") return { role, content: content ?? "" };
  if (role === "tool") return { role, content: [{ type: "tool-result", toolCallId, toolName, output: { type: "text", value: content ?? "" } }] };
  const parts = (calls ?? []).map(({ id, function: { name, arguments: input } }) => ({ type: "tool-call", toolCallId: id, toolName: name, input }));
  return { role: "assistant", content: [{ type: "text", text: content ?? "" }, ...parts] };
}

function tokens({ content }) {
  return typeof content === "string" ? countTokens(content) : 0;
}

function usual(messages) {
  const counts = messages.map(tokens);
  let total = counts.reduce((total, count) => total + count, 0);
  return messages.filter(({ role }, nth) => {
    const isDropped = total > budget && role !== "system";
    if (isDropped) total -= counts[nth];
    return !isDropped;
  });
}

function lazy(messages) {
  let left = budget - messages.reduce((sum, message) => sum + (message.role === "system" ? tokens(message) : 0), 0);
  let start = messages.length;
  for (let nth = messages.length - 1; nth >= 0; nth--) {
    if (messages[nth].role === "system") continue;
    left -= tokens(messages[nth]);
    if (left < 0) break;
    start = nth;
  }
  return messages.filter(({ role }, nth) => nth >= start || role === "system");
}

function byText(cut) {
  return (text) => {
    const record = JSON.parse(text);
    record[KEY] = cut(record[KEY]);
    return JSON.stringify(record);
  };
}

const limit = new Curtail(["limit", "-t", budget]);
const newest = new Curtail(["window", "-n", "10"]);
const last = (messages) => messages.slice(-10);
const prune = (messages) => pruneMessages({ messages, toolCalls: "before-last-10-messages" });
const CONTESTS = {
  objects: { "usual loop": () => objects.map(usual), "lazy loop": () => objects.map(lazy), "the module": () => [...limit.map(objects)] },
  "JSON text": { "usual loop": () => texts.map(byText(usual)), "lazy loop": () => texts.map(byText(lazy)), "the module": () => [...limit.map(texts)] },
  "window -n 10, objects": { "plain loop": () => objects.map(last), "the module": () => [...newest.map(objects)] },
  "window -n 10, JSON text": { "plain loop": () => texts.map(byText(last)), "the module": () => [...newest.map(texts)] },
  "messages of the AI SDK": { pruneMessages: () => models.map(prune), "the module, window -n 10": () => [...newest.map(models)] },
};

function median(numbers) {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)];
}

process.on("warning", () => {});
console.log(`${texts.length} records, ${size.toFixed(0)} MB, ${budget} tokens, ${rounds} rounds`);
for (const [kind, contest] of Object.entries(CONTESTS)) {
  const times = Object.fromEntries(Object.keys(contest).map((name) => [name, []]));
  for (let round = 0; round < Number(rounds); round++) {
    for (const [name, work] of Object.entries(contest)) {
      const begun = process.cpuUsage();
      work();
      const { user, system } = process.cpuUsage(begun);
      times[name].push((user + system) / 1e6);
    }
  }
  const [first] = Object.values(times);
  for (const [name, seconds] of Object.entries(times)) {
    const ratio = median(first.map((slow, nth) => slow / seconds[nth]));
    console.log(`| ${kind} | ${name} | ${median(seconds).toFixed(2)} | ${(size / median(seconds)).toFixed(0)} | ${ratio.toFixed(1)} |`);
  }
}
