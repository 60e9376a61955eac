//! `curtail memory` and `curtail store` as they are typed: the real program, real files, real processes.

mod apply;
mod concurrent;
mod recall;
mod stored;
mod tool;
mod unusable;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::program;

/// A folder of its own, whose store every command uses.
struct Place(TempDir);

/// The output of a command, and its exit status.
#[derive(Debug)]
struct CommandOutput {
    out: String,
    err: String,
    code: i32,
}

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn store(&self) -> PathBuf {
        self.path("state.db")
    }

    /// A file with this text.
    fn file(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).unwrap();
        self.path(name).display().to_string()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = program::command(self.0.path(), args);
        command.env("CURTAIL_STORE", self.store());
        command
    }

    fn run(&self, args: &[&str]) -> CommandOutput {
        self.pipe(args, "")
    }

    fn pipe(&self, args: &[&str], input: &str) -> CommandOutput {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that reads nothing may be gone before all is written.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        CommandOutput::from(child.wait_with_output().unwrap())
    }

    /// What the command writes, where it must succeed and has nothing to complain of.
    fn out(&self, args: &[&str]) -> String {
        self.run(args).quietly()
    }

    fn has_store(&self) -> bool {
        Path::new(&self.store()).exists()
    }
}

impl CommandOutput {
    fn quietly(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }
}

impl From<Output> for CommandOutput {
    fn from(output: Output) -> CommandOutput {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        CommandOutput { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// A conversation with updates under both names; the arguments are strings.
const OPENAI: &str = r#"{"role":"system","content":"You are terse."}
{"role":"user","content":"Ship v2, please."}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"updateWorkingMemory","arguments":"{\"goal\":\"ship v2\",\"by\":{\"day\":\"Friday\"}}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"ok"}
{"role":"assistant","content":"On it.","tool_calls":[{"id":"call_2","type":"function","function":{"name":"search","arguments":"{\"goal\":\"none\"}"}},{"id":"call_3","type":"function","function":{"name":"working-memory/update","arguments":"{\"by\":{\"hour\":5},\"steps\":[\"build\"]}"}}]}
{"role":"tool","tool_call_id":"call_2","content":"nothing"}
{"role":"tool","tool_call_id":"call_3","content":"ok"}
{"role":"assistant","content":"Building."}
"#;

/// What the updates of [`OPENAI`] come to.
const STATE: &str = r#"{"goal":"ship v2","by":{"day":"Friday","hour":5},"steps":["build"]}"#;
