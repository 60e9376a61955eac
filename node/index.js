// Cuts LLM transcripts to size without breaking their tool calls, in this process, as the program does.
"use strict";
const { Curtail } = require("./lib/curtail.js");
const { ArgumentError, CurtailError, RecordError } = require("./lib/errors.js");
const { check, count, filter, limit, repair, split, verify, window } = require("./lib/functions.js");

module.exports = { ArgumentError, Curtail, CurtailError, RecordError, check, count, filter, limit, repair, split, verify, window };
