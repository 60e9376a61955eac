// The errors of this package, with the place of an error and the program's message.
"use strict";

const SHOWN = 200;

/** What a terminal obeys or what reorders the text around it, but for line breaks and tabs. */
const OBEYED = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** `text` with the codes of what a terminal would obey, as the program writes them. */
function printed(text) {
  return text.replace(OBEYED, (character) => `\u27e8U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}\u27e9`);
}

/** The beginning of a text, by which it can be recognized. */
function beginning(text) {
  const characters = Array.from(text.slice(0, 2 * SHOWN + 2));
  return characters.length > SHOWN ? `${characters.slice(0, SHOWN).join("")}…` : text;
}

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
    const shown = beginning(String(sent.slice(0, 4 * SHOWN + 4)));
    super(printed(`record ${index}${column === undefined ? "" : `, ${place}`}: ${reason}${shown && `: ${shown}`}`));
    Object.assign(this, { reason, index, line, column });
  }
}

module.exports = { ArgumentError, CurtailError, RecordError };
