// Finds what the package for this system contains: the program, and the module that Node loads.
"use strict";

const windows = process.platform === "win32";
// Windows on ARM runs x86-64 programs, which load no modules for ARM, and the other way round.
const system = `${process.platform}-${windows ? "x64" : process.arch}`;

/** The path of a file in the package for this system. */
function fileOfSystem(file, what) {
  const name = `curtail-cli-${system}`;
  try {
    return require.resolve(`${name}/${file}`);
  } catch {
    const known = Object.keys(require("../package.json").optionalDependencies);
    if (!known.includes(name)) throw new Error(`there is no ${what} for ${system}; build it from source`);
    throw new Error(`the package ${name} is not installed; install without --omit=optional, or run \`npm install ${name}\``);
  }
}

/** The path of the program. `CURTAIL_PROGRAM` can name another one. */
function program() {
  return process.env.CURTAIL_PROGRAM || fileOfSystem(`bin/curtail${windows ? ".exe" : ""}`, "program");
}

/** The functions in Rust. */
function native() {
  if (windows && process.arch !== "x64") {
    throw new Error(`there is no module for ${process.platform}-${process.arch}; use an x64 build of Node, or build it from source`);
  }
  // Linux has two C libraries, and the module is linked to one of them.
  const isMusl = process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
  return require(fileOfSystem(`lib/curtail${isMusl ? "-musl" : ""}.node`, "module"));
}

module.exports = { native, program };
