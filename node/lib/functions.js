// The policies as functions of the messages of one conversation. Options have the names of the flags, in camel case.
"use strict";
const { Notes, answeredBy, commandOf, findingsOf, found, native, refusing } = require("./curtail.js");
const { ArgumentError } = require("./errors.js");
const { Sent } = require("./values.js");

/** Commands by their words: an agent calls a function with the same options before every request. */
const KNOWN = new Map();
/** The most commands that are kept; the one that was made first makes room. */
const MOST = 64;

const notes = new Notes();

function isScalar(value) {
  return ["string", "number", "boolean"].includes(typeof value);
}

/** An option as `commandLine` takes it: its name with underscores, and a text, a boolean or a list of texts. */
function optionOf([name, value]) {
  const flag = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  if (!(isScalar(value) || (Array.isArray(value) && value.every(isScalar)))) {
    throw new ArgumentError(`${name} is text, a number, a boolean or a list, not ${Array.isArray(value) ? "a list of objects" : typeof value}`);
  }
  if (typeof value === "boolean") return [flag, value];
  return [flag, Array.isArray(value) ? value.map(String) : String(value)];
}

/** The command of these options, made once. */
function knownCommand(name, options) {
  const given = Object.entries(options ?? {}).filter(([, value]) => value !== undefined && value !== null);
  const words = native.commandLine(name, given.map(optionOf));
  const key = words.join("\0");
  let command = KNOWN.get(key);
  if (command === undefined) {
    command = commandOf(words);
    if (KNOWN.size >= MOST) KNOWN.delete(KNOWN.keys().next().value);
    KNOWN.set(key, command);
  }
  return command;
}

function cut(name, messages, options) {
  if (Array.isArray(messages) && messages.some(Array.isArray)) {
    throw new ArgumentError("this is a list of lists, and a function takes the messages of one conversation: use new Curtail(…).map()");
  }
  const reader = new native.Reader(knownCommand(name, options));
  const sent = new Sent(messages);
  const [answer] = refusing(() => reader.cut([sent.data], [sent.isValue], 1));
  return answeredBy(notes, sent, answer);
}

function window(messages, size = 40, options = undefined) {
  return cut("window", messages, { ...options, size });
}

function limit(messages, maxTokens, options = undefined) {
  return cut("limit", messages, { ...options, maxTokens });
}

function filter(messages, options = undefined) {
  return cut("filter", messages, options);
}

function repair(messages, mode = undefined, options = undefined) {
  return cut("repair", messages, { ...options, mode });
}

function split(messages, maxTokens = undefined, options = undefined) {
  return cut("split", messages, { ...options, maxTokens });
}

function check(messages, options = undefined) {
  const reader = new native.Reader(knownCommand("check", { ...options, noConfig: true }));
  const sent = new Sent(messages);
  const [report] = refusing(() => reader.check([sent.data]));
  return findingsOf(found(sent, report));
}

function count(messages, options = undefined) {
  const reader = new native.Reader(knownCommand("count", options));
  const sent = new Sent(messages);
  const [tokens] = refusing(() => reader.count(sent.data));
  return found(sent, tokens);
}

function verify(before, after, options = undefined) {
  const command = knownCommand("verify", options);
  const sides = [new Sent(before), new Sent(after, 1)];
  return JSON.parse(refusing(() => command.verify(...sides.map((side) => side.data))));
}

module.exports = { check, count, filter, limit, repair, split, verify, window };
