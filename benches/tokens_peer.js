// What a script over an npm package does. Usage: node tokens_peer.js js-tiktoken|gpt-tokenizer count FILE | limit N FILE
// As tokens_peer.py; packages are found where NODE_PATH says.
const fs = require("fs");

function counter(name) {
  if (name === "gpt-tokenizer") {
    const { countTokens } = require("gpt-tokenizer/encoding/o200k_base");
    return (text) => countTokens(text, { allowedSpecial: new Set(), disallowedSpecial: new Set() });
  }
  const { Tiktoken } = require("js-tiktoken/lite");
  const encoding = new Tiktoken(require("js-tiktoken/ranks/o200k_base"));
  return (text) => encoding.encode(text, [], []).length;
}

function texts(message) {
  const { content, tool_calls } = message;
  const said = typeof content === "string" ? [content] : (content || []).map((block) => block.text || "");
  return said.concat((tool_calls || []).flatMap((call) => [call.function.name, call.function.arguments]));
}

function limit(messages, budget, count) {
  const tokens = (message) => texts(message).reduce((sum, text) => sum + count(text), 0);
  const system = (message) => message.role === "system";
  let left = budget - messages.filter(system).reduce((sum, message) => sum + tokens(message), 0);
  let start = messages.length;
  for (let at = messages.length - 1; at >= 0; at--) {
    if (system(messages[at])) continue;
    left -= tokens(messages[at]);
    if (left < 0) break;
    start = at;
  }
  return messages.filter((message, at) => at >= start || system(message));
}

const [name, job, ...rest] = process.argv.slice(2);
const count = counter(name);
if (job === "count") {
  const text = fs.readFileSync(rest[0], "utf8");
  const begun = process.hrtime.bigint();
  const tokens = count(text);
  console.log(Number(process.hrtime.bigint() - begun) / 1e9, tokens);
} else {
  for (const line of fs.readFileSync(rest[1], "utf8").split("\n").filter(Boolean)) {
    const record = JSON.parse(line);
    const messages = Array.isArray(record) ? record : record.messages;
    const kept = limit(messages, Number(rest[0]), count);
    messages.splice(0, messages.length, ...kept);
    process.stdout.write(JSON.stringify(record) + "\n");
  }
}
