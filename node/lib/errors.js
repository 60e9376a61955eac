// The errors of this package, with the place of an error and the program's message.
"use strict";

const SHOWN = 200;

/** The base class of all errors of this package. */
class CurtailError extends Error {
  get name() {
    return this.constructor.name;
  }
}

/** The arguments name no command that answers records, or a flag or an option is wrong. */
class ArgumentError extends CurtailError {}

/** A record cannot be read or cut. */
class RecordError extends CurtailError {
  /** `failed` has the `reason`, and the `line` and `column` if it has a place; `sent` is what was to be read. */
  constructor(failed, index = 0, sent = "") {
    const { reason, line = 1, column } = failed;
    const place = line === 1 ? `column ${column}` : `line ${line}, column ${column}`;
    const text = String(sent.slice(0, 4 * SHOWN));
    const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
    super(`record ${index}${column === undefined ? "" : `, ${place}`}: ${reason}${shown && `: ${shown}`}`);
    Object.assign(this, { reason, index, line, column });
  }
}

module.exports = { ArgumentError, CurtailError, RecordError };
