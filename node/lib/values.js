// Values of JavaScript as JSON on their way in, and what is left of them on their way out: the same objects where nothing changed.
"use strict";
const { types } = require("node:util");
const { RecordError } = require("./errors.js");

/** The deepest nesting; a value that contains itself has no end. */
const MAX_DEPTH = 900;

/** What `JSON.stringify` would write as an empty object. */
const EMPTY = new Set(["Map", "Set", "WeakMap", "WeakSet", "Promise", "RegExp", "WeakRef", "Generator"].map((kind) => `[object ${kind}]`));

/** A record, the text or the bytes that are sent for it, and how its answer is read. */
class Sent {
  /** @throws {RecordError} the record has no form in JSON. */
  constructor(record, index = 0) {
    this.record = record;
    this.index = index;
    this.isValue = false;
    this.originals = new Map();
    if (typeof record === "string") {
      const column = record.isWellFormed() ? 0 : halfOfPair(record);
      if (column) throw this.failure({ reason: "text that is not Unicode: half of a surrogate pair", column });
      this.data = record;
    } else if (ArrayBuffer.isView(record) || types.isAnyArrayBuffer(record)) {
      this.data = bytesOf(record);
    } else {
      this.isValue = true;
      this.data = this.written();
    }
  }

  failure(failed) {
    return new RecordError(failed, this.index, this.data);
  }

  written() {
    const path = [];
    const lacks = (what) => this.failure({ reason: `not JSON: ${path.length ? `/${path.join("/")}` : "the record"} ${what}` });
    const kind = typeof this.record;
    if (this.record === null || kind !== "object") {
      throw lacks(`is ${this.record === null || kind === "undefined" ? this.record : `a ${kind}`}; pass messages, a record that has some, or JSON text`);
    }
    // An object that says how it is written, such as a prompt of LangChain, is what it says.
    this.source = typeof this.record.toJSON === "function" ? this.record.toJSON("") : this.record;
    return JSON.stringify(new Plain(this.originals, path, lacks).value(this.source, ""));
  }

  /** What is left of the record. */
  answered(answer) {
    if (answer.windows !== undefined) return answer.windows.map((window) => this.answered(window));
    if (answer.text !== undefined) return answer.text;
    if (answer.value !== undefined) return this.read(answer.value);
    if (answer.messages !== undefined) return this.messages(this.source, answer.messages);
    return answer.members === undefined ? this.record : this.object(answer.members);
  }

  object(members) {
    const object = { ...this.source };
    const left = new Set(members.map((member) => member.key));
    for (const [key, value] of Object.entries(object)) {
      // What JSON leaves out is neither kept nor dropped.
      if (!left.has(key) && !["undefined", "function", "symbol"].includes(typeof value)) delete object[key];
    }
    for (const { key, messages, value } of members) {
      if (messages !== undefined) set(object, key, this.messages(this.source[key], messages));
      if (value !== undefined) set(object, key, this.read(value));
    }
    return object;
  }

  messages(old, items) {
    return items.map((item) => (typeof item === "number" ? old[item] : this.read(item)));
  }

  /** A new value, with the values of the record that JSON lacks. */
  read(text) {
    const value = JSON.parse(text);
    return this.originals.size ? restored(value, "", this.originals) : value;
  }
}

/** Sets a member of any name, `__proto__` included. */
function set(object, key, value) {
  Object.defineProperty(object, key, { value, configurable: true, enumerable: true, writable: true });
}

/** The column of half of a surrogate pair, from 1. */
function halfOfPair(text) {
  const characters = Array.from(text);
  return characters.findIndex((character) => !character.isWellFormed()) + 1;
}

function bytesOf(value) {
  return ArrayBuffer.isView(value) ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : Buffer.from(value);
}

/** Makes values what JSON has. */
class Plain {
  /** `originals` remembers what texts stand for, and `lacks` makes the error of a value without a form in JSON. */
  constructor(originals, path, lacks) {
    Object.assign(this, { originals, path, lacks });
  }

  /**
   * The value itself if JSON has it all, and a copy otherwise: bytes are Base64, and an object that says how it is written is what
   * it says.
   */
  value(value, key) {
    if (typeof value !== "object" || value === null) return this.scalar(value);
    if (this.path.length >= MAX_DEPTH) {
      this.path.length = 0;
      throw this.lacks(`is nested more than ${MAX_DEPTH} levels deep, or contains itself`);
    }
    const written = this.written(value, key);
    if (typeof written !== "object" || written === null) return this.scalar(written);
    return Array.isArray(written) ? this.list(written, key) : this.object(written);
  }

  scalar(value) {
    if (typeof value === "bigint") throw this.lacks("is a BigInt");
    if (typeof value === "number" && !Number.isFinite(value)) throw this.lacks(`is ${value}, which JSON does not have`);
    return value;
  }

  /** What is written for an object: itself, unless it says something else. */
  written(value, key) {
    if (typeof value.toJSON === "function" && !ArrayBuffer.isView(value)) {
      const written = value.toJSON(key);
      return typeof written === "string" ? this.remembered(written, value, key) : written;
    }
    const prototype = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === Array.prototype || prototype === null) return value;
    if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) {
      return this.remembered(bytesOf(value).toString("base64"), value, key);
    }
    const kind = Object.prototype.toString.call(value);
    if (EMPTY.has(kind)) throw this.lacks(`is a ${kind.slice(8, -1)}, which JSON does not have`);
    return value;
  }

  remembered(text, value, key) {
    this.originals.set(`${key}\0${text}`, value);
    return text;
  }

  list(list, key) {
    let copy = list;
    for (let index = 0; index < list.length; index++) {
      const item = list[index];
      const type = typeof item;
      if (type === "string" || (type === "number" && Number.isFinite(item))) continue;
      this.path.push(index);
      if (type === "undefined") throw this.lacks("is undefined");
      if (type === "function" || type === "symbol") throw this.lacks(`is a ${type}`);
      const written = this.value(item, key);
      this.path.pop();
      if (written !== item) {
        if (copy === list) copy = list.slice();
        copy[index] = written;
      }
    }
    return copy;
  }

  object(object) {
    let copy = object;
    for (const key of Object.keys(object)) {
      const member = object[key];
      if (typeof member === "string") continue;
      this.path.push(key);
      const written = this.value(member, key);
      this.path.pop();
      if (written !== member) {
        if (copy === object) copy = { ...object };
        set(copy, key, written);
      }
    }
    return copy;
  }
}

function restored(value, key, originals) {
  if (typeof value === "string") return originals.get(`${key}\0${value}`) ?? value;
  if (Array.isArray(value)) return value.map((item) => restored(item, key, originals));
  if (typeof value !== "object" || value === null) return value;
  for (const name of Object.keys(value)) set(value, name, restored(value[name], name, originals));
  return value;
}

module.exports = { Sent };
