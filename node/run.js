#!/usr/bin/env node
// Runs the program of the package for this system, with the same arguments, streams, signals and exit status.
"use strict";
const { spawn } = require("node:child_process");
const os = require("node:os");
const { isatty } = require("node:tty");
const { program } = require("./lib/system.js");

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];
const windows = process.platform === "win32";
// A terminal sends Ctrl-C to the program, too, and a second one would end it at once. On Windows, no signal can be passed on.
const unsent = windows ? SIGNALS : [0, 1, 2].some(isatty) ? ["SIGINT"] : [];

function fail(message) {
  console.error(`curtail: ${message}`);
  process.exit(2);
}

function failToStart(error) {
  fail(`${error.message}; reinstall the package`);
}

function found() {
  try {
    return program();
  } catch (error) {
    return fail(error.message);
  }
}

function started(path) {
  try {
    return spawn(path, process.argv.slice(2), { stdio: "inherit" });
  } catch (error) {
    return failToStart(error);
  }
}

/** Ends as the program ended. */
function end(status, signal) {
  if (signal) {
    SIGNALS.forEach((name) => process.removeAllListeners(name));
    process.kill(process.pid, signal);
  }
  // Node ignores some signals.
  process.exit(status ?? 128 + os.constants.signals[signal]);
}

let child;
for (const signal of SIGNALS) process.on(signal, () => unsent.includes(signal) || child.kill(signal));
child = started(found());
child.on("error", failToStart);
child.on("exit", end);
