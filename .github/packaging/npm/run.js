#!/usr/bin/env node
// Runs the program of the package for this system, with the same arguments, streams and exit status.
"use strict";
const { spawnSync } = require("node:child_process");
const os = require("node:os");

const windows = process.platform === "win32";
// Windows on ARM runs x86-64 programs.
const system = `${process.platform}-${windows ? "x64" : process.arch}`;

function fail(message) {
  console.error(`curtail: ${message}`);
  process.exit(2);
}

function program() {
  const name = `curtail-cli-${system}`;
  try {
    return require.resolve(`${name}/bin/curtail${windows ? ".exe" : ""}`);
  } catch {
    const known = Object.keys(require("./package.json").optionalDependencies);
    if (!known.includes(name)) fail(`there is no program for ${system}; build it from source`);
    fail(`the package ${name} is not installed; install without --omit=optional, or run \`npm install ${name}\``);
  }
}

const { status, signal, error } = spawnSync(program(), process.argv.slice(2), { stdio: "inherit" });
if (error) fail(`${error.message}; reinstall the package`);
process.exit(status ?? 128 + os.constants.signals[signal]);
