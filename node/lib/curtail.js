// `Curtail`: a command with its flags, for many records.
"use strict";
const { ArgumentError, CurtailError, RecordError } = require("./errors.js");
const system = require("./system.js");
const { Sent } = require("./values.js");

const native = system.native();

const COMMANDS = ["window", "limit", "filter", "repair", "summarize", "run", "split", "check"];
const STATE = "keeps state between runs; run the program itself";
const REFUSED = new Map([["memory", STATE], ["store", STATE]]);
const ON_ERROR = ["throw", "skip", "keep", "return"];

/** The command with these words, with the files that they name as they are now. */
function commandOf(words, explain = false) {
  nameProgram(words);
  const command = refusing(() => new native.Command(words, explain));
  // What is explained was said when the command was made.
  for (const remark of explain ? [] : command.remarks) warn(`${words[0]}: ${remark}`);
  return command;
}

/** Names the program, which renders chat templates in a process of its own: those of flags, and of configuration files. */
function nameProgram(words) {
  const hasTemplate = words.some((word) => word.startsWith("--template"));
  if (!hasTemplate && words[0] !== "run") return;
  try {
    native.setProgram(system.program());
  } catch (error) {
    // Few configuration files name a template. One that does is an error that says so.
    if (hasTemplate) throw error;
  }
}

/** What `work` returns; an error of it is one of the arguments, unless it is one of a record. */
function refusing(work) {
  try {
    return work();
  } catch (error) {
    throw error instanceof CurtailError ? error : new ArgumentError(error.message);
  }
}

function warn(text) {
  process.emitWarning(text, "CurtailWarning");
}

/** Warns of every note once. */
class Notes {
  #known = new Set();

  warn(notes, index) {
    for (const { line, note } of notes ?? []) {
      if (this.#known.has(note)) continue;
      this.#known.add(note);
      warn(`record ${index}${line > 1 ? `, line ${line}` : ""}: ${note}`);
    }
  }
}

/** What is found in a record, or its error. */
function found(sent, result) {
  if (result.reason !== undefined) throw sent.failure(result);
  return result;
}

/** The findings of a report in the format `json`, with names as JavaScript has them. */
function findingsOf(report) {
  return JSON.parse(report).findings.map(({ file: _, other_half: otherHalf, provider_answer: providerAnswer, ...finding }) => ({
    ...finding,
    ...(providerAnswer !== undefined && { providerAnswer }),
    ...(otherHalf !== undefined && { otherHalf }),
  }));
}

class Curtail {
  #args;
  #command;
  #jobs;
  #notes = new Notes();
  #reader;

  constructor(args, { jobs = 1 } = {}) {
    if (!Array.isArray(args)) throw new ArgumentError(`args is a list of words, such as ${JSON.stringify(String(args).split(" "))}`);
    const [name = ""] = args;
    if (!COMMANDS.includes(name)) {
      const why = REFUSED.get(name) ?? `is not one of ${COMMANDS.join(", ")}`;
      throw new ArgumentError(name ? `\`${name}\` ${why}` : 'no command; such as ["limit", "-t", "8k"]');
    }
    if (!(jobs >= 0)) throw new ArgumentError(`jobs is a number of threads, or 0 for all cores, not ${jobs}`);
    this.#args = args.map(String);
    this.#jobs = jobs;
    this.#command = commandOf(this.#args);
    this.#reader = new native.Reader(this.#command);
  }

  one(record) {
    const sent = new Sent(record);
    const [answer] = this.#cutting((reader) => reader.cut([sent.data], [sent.isValue], 1));
    return this.#answered(sent, answer);
  }

  async oneAsync(record) {
    const sent = new Sent(record);
    const later = this.#cutting((reader) => reader.cutLater([sent.data], [sent.isValue], 1));
    const [answer] = await later.catch((error) => refusing(() => { throw error; }));
    return this.#answered(sent, answer);
  }

  map(records, { onError = "throw", ahead = 512 } = {}) {
    if (!ON_ERROR.includes(onError)) throw new ArgumentError(`onError is one of ${ON_ERROR.join(", ")}`);
    requireRecords(records, "map", "one");
    // A reader of its own: another call may read another dialect.
    return this.#cutting(() => this.#answers(records, new native.Reader(this.#command), onError, ahead));
  }

  *#answers(records, reader, onError, ahead) {
    let chunk = [];
    let first = 0;
    for (const record of records) {
      chunk.push(record);
      if (chunk.length < ahead) continue;
      yield* this.#chunk(reader, chunk, first, onError);
      first += chunk.length;
      chunk = [];
    }
    yield* this.#chunk(reader, chunk, first, onError);
  }

  *#chunk(reader, records, first, onError) {
    const sent = records.map((record, index) => settled(() => new Sent(record, first + index)));
    const good = sent.filter((one) => one instanceof Sent);
    const answers = this.#cutting(() => reader.cut(good.map((one) => one.data), good.map((one) => one.isValue), this.#jobs));
    let next = 0;
    for (const [index, one] of sent.entries()) {
      const answer = one instanceof Sent ? settled(() => this.#answered(one, answers[next++])) : one;
      const isFailed = answer instanceof RecordError && answer !== records[index];
      if (isFailed && onError === "throw") throw answer;
      if (isFailed && onError === "skip") continue;
      if (!isFailed && this.#command.does === "split") yield* answer;
      else yield isFailed && onError === "keep" ? records[index] : answer;
    }
  }

  whole(data, framing = "lines") {
    const sent = new Sent(data);
    const answer = this.#cutting(() => refusing(() => new native.Reader(this.#command).whole(sent.data, framing)));
    return this.#answered(sent, answer);
  }

  explain(record) {
    const sent = new Sent(record);
    return this.#cutting(() => found(sent, new native.Reader(commandOf(this.#args, true)).explain(sent.data)));
  }

  check(record) {
    return this.checkAll([record])[0];
  }

  checkAll(records) {
    requireRecords(records, "checkAll", "check");
    const command = this.#command.does === "check" ? this.#command : commandOf(["check"]);
    const sent = Array.from(records, (record, index) => new Sent(record, index));
    const reports = new native.Reader(command).check(sent.map((one) => one.data));
    return reports.map((report, index) => findingsOf(found(sent[index], report)));
  }

  #cutting(work) {
    if (this.#command.does === "check") throw new ArgumentError("`check` cuts nothing; use check()");
    return refusing(() => work(this.#reader));
  }

  #answered(sent, answer) {
    return answeredBy(this.#notes, sent, answer);
  }
}

/** Refuses one value where `method` takes several; `single` takes it. */
function requireRecords(records, method, single) {
  const isOne = typeof records === "string" || ArrayBuffer.isView(records) || typeof records?.[Symbol.iterator] !== "function";
  if (isOne) throw new ArgumentError(`${method} takes an iterable of records, and this is one value: use ${single}()`);
}

function settled(work) {
  try {
    return work();
  } catch (error) {
    if (error instanceof RecordError) return error;
    throw error;
  }
}

function answeredBy(notes, sent, answer) {
  notes.warn(answer.notes, sent.index);
  if (answer.failed) throw sent.failure(answer.failed);
  return sent.answered(answer);
}

module.exports = { Curtail, Notes, answeredBy, commandOf, findingsOf, found, native, refusing };
