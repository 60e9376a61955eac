/** One value, or several. */
export type Several = string | readonly string[];

/** A number of tokens, such as `8000` or `"8k"`. */
export type Tokens = number | string;

/** Messages, a record that has some, or either as JSON text or bytes. */
export type Transcript = readonly unknown[] | object | string | Uint8Array;

/** What all functions understand. */
export interface ReadOptions {
  /** The format of the messages; detected by default. */
  dialect?: string;
  /** The key of the list of messages in a record. */
  messagesKey?: string;
}

/** How tokens are counted. */
export interface CountOptions extends ReadOptions {
  tokenizer?: string;
  model?: string;
  overhead?: Tokens;
  template?: string;
  tools?: string;
  addGenerationPrompt?: boolean;
}

/** What all functions that cut understand. */
export interface CutOptions extends ReadOptions {
  repairPending?: boolean;
  thinking?: string;
  usage?: string;
  live?: boolean;
}

export interface WindowOptions extends CutOptions {
  strategy?: string;
  unit?: string;
  step?: number;
  maxExpansion?: number;
  capInFlight?: boolean;
  preserveSystem?: boolean;
  pin?: Several;
  startOn?: string;
  keepFirst?: number;
  repair?: string;
}

export interface LimitOptions extends CutOptions, CountOptions {
  trigger?: Tokens;
  step?: Tokens;
  onOverflow?: string;
  preserveSystem?: boolean;
  pin?: Several;
  reserve?: Tokens;
  repair?: string;
}

export interface FilterOptions extends CutOptions {
  excludeTool?: Several;
  includeTool?: Several;
  persistResults?: boolean;
  role?: Several;
  strip?: Several;
  keepLastResults?: number;
  step?: number;
  protectTokens?: Tokens;
  supersedeReads?: boolean;
  readTool?: Several;
  dedupeResults?: boolean;
  clearInputs?: boolean;
  placeholder?: string;
  exemptTool?: Several;
  clearTool?: Several;
  trigger?: Tokens;
  clearAtLeast?: Tokens;
  capResult?: Tokens;
  capTool?: Several;
  capKeep?: string;
  keepLastMedia?: number;
  maxMediaBytes?: number | string;
  maxMediaPixels?: number;
  range?: string;
  drop?: number | Several;
  dropTurn?: number | Several;
  pin?: Several;
  repair?: string;
}

export interface RepairOptions extends Omit<CutOptions, "repairPending"> {
  pending?: boolean;
  profile?: string;
}

export interface SplitOptions extends CutOptions, CountOptions {
  overlap?: number | string;
  pin?: Several;
  at?: string;
  targets?: string;
  dropUntrained?: boolean;
  onOverflow?: string;
  mark?: string;
  idKey?: string;
  reserve?: Tokens;
  repair?: string;
}

export interface CheckOptions extends ReadOptions {
  deny?: Several;
  warn?: Several;
  allow?: Several;
  strict?: boolean;
  stateful?: boolean;
  profile?: string;
  maxTokens?: Tokens;
  tokenizer?: string;
  model?: string;
  live?: boolean;
}

export interface VerifyOptions extends ReadOptions {
  minKept?: string | number;
  require?: Several;
  tokenizer?: string;
  model?: string;
}

/** A place in a record. */
export interface Place {
  /** The line, from 1. */
  line: number;
  /** The column, from 1, in characters. */
  column: number;
  /** The first byte, from 0. */
  offset: number;
  /** The number of bytes. */
  length: number;
  /** The JSON pointer within the record, if it is JSON. */
  pointer?: string;
  /** The number of the message, from 0, if the finding is about one. */
  message?: number;
}

/** Something that a provider would reject, or that a dataset should not contain. */
export interface Finding {
  /** The rule's code, such as `P001`. */
  code: string;
  /** Its name, such as `orphan-result`. */
  rule: string;
  level: "deny" | "warn";
  /** What is wrong. */
  message: string;
  /** How to fix it. */
  help: string;
  at: Place;
  /** The provider's error message. */
  providerAnswer?: string;
  /** The place of the counterpart of the call or result, if there is one. */
  otherHalf?: Place;
}

/** What was decided about a message. */
export interface Explanation {
  /** The number of the message, from 0; missing if it is new. */
  message?: number;
  /** The policy that decided. */
  policy: string;
  /** The message in words. */
  subject: string;
  /** What was done, and why. */
  outcome: string;
}

/** What a cut does to a record. */
export interface Report {
  messagesBefore: number;
  messagesAfter: number;
  /** 0 if the command does not count tokens. */
  tokensBefore: number;
  tokensAfter: number;
  /** What was decided, in order; messages that are kept unchanged are left out, unless a policy kept them. */
  explanations: Explanation[];
}

/** What a cut lost, as the JSON of `curtail verify` says it. */
export interface Verdict {
  summary: { passed: boolean; [name: string]: unknown };
  [name: string]: unknown;
}

/**
 * Keeps the newest `size` messages, with whole pairs of calls and results, as `curtail window` does. Kept messages are the same
 * objects; without a change, the result is `messages` itself.
 */
export function window<T extends Transcript>(messages: T, size?: number, options?: WindowOptions): T;

/** Keeps the newest whole segments that fit a token budget, such as `8000`, `"8k"` or `"50%"`, as `curtail limit` does. */
export function limit<T extends Transcript>(messages: T, maxTokens: Tokens, options?: LimitOptions): T;

/** Drops calls with their results, roles and parts, or clears results, as `curtail filter` does. */
export function filter<T extends Transcript>(messages: T, options?: FilterOptions): T;

/** Makes the pairs of calls and results whole, as `curtail repair` does. `mode` is `move`, `drop` or `stub`. */
export function repair<T extends Transcript>(messages: T, mode?: string, options?: RepairOptions): T;

/** Splits a conversation into windows that fit a token budget, for training, as `curtail split` does. */
export function split<T extends Transcript>(messages: T, maxTokens?: Tokens, options?: SplitOptions): T[];

/** What a provider would reject, as `curtail check` finds it. Reads no `curtail.toml`. */
export function check(messages: Transcript, options?: CheckOptions): Finding[];

/** The number of tokens, as `curtail count` counts them. */
export function count(messages: Transcript, options?: CountOptions): number;

/** What a cut lost, as `curtail verify` says it; `summary.passed` is the verdict. `after` may be a text, such as a summary. */
export function verify(before: Transcript, after: Transcript, options?: VerifyOptions): Verdict;

/**
 * A command with its flags, such as `new Curtail(["limit", "-t", "8k"])`. All records of a `Curtail` have one dialect, like the
 * records of a file.
 */
export class Curtail {
  /** `jobs` is the number of threads with which `map` cuts; 0 for all cores. */
  constructor(args: readonly string[], options?: { jobs?: number });

  /** Cuts one record. With `split`, the answer is a list of records. */
  one<T extends Transcript>(record: T): T;

  /** Cuts one record as `one` does, on a thread of Node's pool, while JavaScript runs on. */
  oneAsync<T extends Transcript>(record: T): Promise<T>;

  /**
   * Cuts every record, in order. With `split`, the records that it becomes follow each other.
   *
   * `ahead` is how many records are read before the first answer.
   */
  map<T extends Transcript>(records: Iterable<T>, options?: { onError?: "throw" | "skip" | "keep"; ahead?: number }): Generator<T, void>;
  /** Cuts every record; the error of one that fails is in the place of its answer. */
  map<T extends Transcript>(records: Iterable<T>, options: { onError: "return"; ahead?: number }): Generator<T | RecordError, void>;

  /**
   * Cuts one transcript of many lines: a log (`lines`) or a JSON document (`document`), as text or bytes. With `split`, one of
   * which it makes several is an error.
   */
  whole<T extends string | Uint8Array>(data: T, framing?: "lines" | "document"): T;

  /** What the cut does to a record, and why. */
  explain(record: Transcript): Report;

  /** The findings of `curtail check` in one record, with the flags of the command if it is `check`. */
  check(record: Transcript): Finding[];

  /** The findings in each record; with `--warn duplicate-transcript`, duplicates among them as well. */
  checkAll(records: Iterable<Transcript>): Finding[][];
}

/** The base class of all errors of this package. */
export class CurtailError extends Error {}

/** The arguments name no command that answers records, or a flag or an option is wrong. */
export class ArgumentError extends CurtailError {}

/** A record cannot be read or cut. */
export class RecordError extends CurtailError {
  /** What is wrong. */
  readonly reason: string;
  /** The number of the record in the call, from 0. */
  readonly index: number;
  /** The line within the record, from 1. */
  readonly line: number;
  /** The column within the line, from 1, in characters; `undefined` if the error has no place. */
  readonly column: number | undefined;
}
