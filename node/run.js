#!/usr/bin/env node
// Runs the program of the package for this system, with the same arguments, streams and exit status.
"use strict";
const { spawnSync } = require("node:child_process");
const os = require("node:os");
const { program } = require("./lib/system.js");

function fail(message) {
  console.error(`curtail: ${message}`);
  process.exit(2);
}

function found() {
  try {
    return program();
  } catch (error) {
    return fail(error.message);
  }
}

const { status, signal, error } = spawnSync(found(), process.argv.slice(2), { stdio: "inherit" });
if (error) fail(`${error.message}; reinstall the package`);
process.exit(status ?? 128 + os.constants.signals[signal]);
