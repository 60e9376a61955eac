#!/usr/bin/env node
// Runs the program that install.js unpacked, with the same arguments, streams and exit status.
"use strict";
const { spawnSync } = require("node:child_process");
const os = require("node:os");
const path = require("node:path");

const program = path.join(__dirname, process.platform === "win32" ? "curtail.exe" : "curtail");
const { status, signal, error } = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (error) {
  console.error(`curtail: ${error.message}; reinstall the package`);
  process.exit(2);
}
process.exit(status ?? 128 + os.constants.signals[signal]);
