//! `curtail memory` and `curtail store` as they are typed: the real program, real files, real processes.

mod apply;
mod recall;
mod stored;

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use serde_json::Value;
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
        std::fs::write(self.path(name), text).unwrap();
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

// The definition of the memory tool.

fn names(tools: &str, at: &str) -> Vec<String> {
    let tools: Value = serde_json::from_str(tools).unwrap();
    let tools = tools.as_array().unwrap();
    tools.iter().map(|tool| tool.pointer(at).and_then(Value::as_str).unwrap().to_owned()).collect()
}

#[test]
fn the_tool_has_both_names_in_every_spelling() {
    let place = Place::new();
    let both = ["updateWorkingMemory", "working-memory/update"];
    assert_eq!(names(&place.out(&["memory", "tool-schema"]), "/function/name"), both);
    let places = [
        ("openai", "/function/name"),
        ("responses", "/name"),
        ("anthropic", "/name"),
        ("gemini", "/functionDeclarations/0/name"),
        ("bedrock", "/toolSpec/name"),
    ];
    for (dialect, at) in places {
        assert_eq!(names(&place.out(&["memory", "tool-schema", "--dialect", dialect]), at), both);
        let one = place.out(&["memory", "tool-schema", "--dialect", dialect, "--name", both[0]]);
        assert_eq!(names(&one, at), both[..1]);
    }
    assert_eq!(place.run(&["memory", "tool-schema", "--dialect", "nonsense"]).code, 2);
    assert_eq!(place.run(&["memory", "tool-schema", "--name", "remember"]).code, 2);
}

// A store that cannot be used: a clear error, status 2, and not a byte of it touched.

fn refuses(place: &Place, words: &str, also_to_read: bool) {
    let bytes = fs::read(place.store()).unwrap();
    let read: &[&[&str]] = &[&["show", "--thread", "t"], &["list"], &["recall", "--thread", "t"]];
    let write: &[&[&str]] =
        &[&["update", "--thread", "t", "{\"n\":1}"], &["set", "--thread", "t", "x"], &["clear", "--thread", "t"]];
    for command in read.iter().filter(|_| also_to_read).chain(write) {
        let output = place.run(&[&["memory"], *command].concat());
        assert!(output.code == 2 && output.out.is_empty(), "{command:?}: {output:?}");
        let expected = format!("curtail: store {}: ", place.store().display());
        assert!(output.err.starts_with(&expected) && output.err.contains(words), "{command:?}: {}", output.err);
        assert_eq!(fs::read(place.store()).unwrap(), bytes, "{command:?} touched it");
    }
    let names = fs::read_dir(place.0.path()).unwrap().count();
    assert_eq!(names, 1, "something was left beside it");
}

fn filled() -> Place {
    let place = Place::new();
    place.out(&["memory", "set", "--thread", "t", "notes"]);
    place
}

#[test]
fn a_truncated_store() {
    let place = filled();
    let bytes = fs::read(place.store()).unwrap();
    for (length, words) in
        [(0, "the file is empty"), (60, "truncated"), (4096, "truncated"), (bytes.len() - 1, "truncated")]
    {
        fs::write(place.store(), &bytes[..length]).unwrap();
        refuses(&place, words, true);
    }
}

#[test]
fn another_file() {
    let place = Place::new();
    fs::write(place.store(), "{\"role\":\"user\",\"content\":\"Hi\"}\n").unwrap();
    refuses(&place, "not an SQLite file", true);
}

#[test]
fn the_database_of_another_program() {
    let place = Place::new();
    let foreign = rusqlite::Connection::open(place.store()).unwrap();
    foreign.execute_batch("CREATE TABLE entry (number INTEGER PRIMARY KEY, body TEXT)").unwrap();
    drop(foreign);
    refuses(&place, "an SQLite file of another program", true);
}

#[test]
fn a_store_of_a_newer_version() {
    let place = filled();
    let raw = rusqlite::Connection::open(place.store()).unwrap();
    raw.pragma_update(None, "user_version", 2).unwrap();
    drop(raw);
    refuses(&place, "written by a newer curtail (version 2; this one reads up to 1)", true);
}

#[test]
fn a_read_only_store() {
    let place = filled();
    let mut permissions = fs::metadata(place.store()).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(place.store(), permissions).unwrap();
    refuses(&place, "read-only", false);
    assert_eq!(place.out(&["memory", "show", "--thread", "t"]), "notes\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_takes_no_file_is_told_once() {
    let place = Place::new();
    let output = place.run(&["memory", "set", "--thread", "t", "--store", "/proc/state.db", "x"]);
    assert_eq!((output.code, output.err.as_str()), (2, "curtail: store /proc/state.db: no such file or directory\n"));
}

// Many processes at once, and processes killed at any point.

fn state(place: &Place) -> Value {
    let shown = place.out(&["memory", "show", "--thread", "t", "--output-format", "json"]);
    serde_json::from_str(&shown).unwrap()
}

#[test]
fn eight_processes_on_one_thread_lose_no_update() {
    let place = Place::new();
    thread::scope(|scope| {
        for writer in 0..8 {
            let place = &place;
            scope.spawn(move || {
                for step in 0..6 {
                    let update = format!("{{\"w{writer}\":{{\"s{step}\":{step}}}}}");
                    place.out(&["memory", "update", "--thread", "t", &update]);
                }
            });
        }
    });
    let state = state(&place);
    for writer in 0..8 {
        let steps = state[format!("w{writer}")].as_object().unwrap();
        assert_eq!(steps.len(), 6, "{state}");
    }
}

#[test]
fn the_last_acknowledged_update_survives_every_kill() {
    let rounds: u64 = env::var("CURTAIL_KILL_ROUNDS").map_or(50, |rounds| rounds.parse().unwrap());
    let place = Place::new();
    // Some pages, so that a change takes a while.
    let ballast = place.file("ballast.txt", &"x".repeat(300_000));
    let ballast = std::fs::read_to_string(ballast).unwrap();
    let (mut kept, mut acknowledged, mut killed) = (0, 0, 0);
    // Kills fall between the start and a quarter past what a whole run takes here and now.
    let begun = Instant::now();
    place.out(&["memory", "update", "--thread", "other", &format!("{{\"ballast\":\"{}\"}}", &ballast[..90_000])]);
    let whole = u64::try_from(begun.elapsed().as_micros()).unwrap();
    for round in 1..=rounds {
        let update = format!("{{\"round\":{round},\"ballast\":\"{round}{}\"}}", &ballast[..90_000]);
        let mut child =
            place.command(&["memory", "update", "--thread", "t", &update]).stdout(Stdio::piped()).spawn().unwrap();
        let mut out = child.stdout.take().unwrap();
        let mut printed = String::new();
        // Every fifth is killed once it has printed everything, however slow it is.
        if round % 5 == 0 {
            out.read_to_string(&mut printed).unwrap();
        } else {
            thread::sleep(Duration::from_micros(whole * (round * 37 % 125) / 100));
        }
        child.kill().unwrap();
        out.read_to_string(&mut printed).unwrap();
        killed += u32::from(!child.wait().unwrap().success());
        acknowledged += u32::from(!printed.is_empty());
        let found = if place.has_store() { state(&place)["round"].as_u64().unwrap_or(0) } else { 0 };
        // A change is there whole or not at all; where it was acknowledged, it is there.
        assert!(found == round || (found == kept && printed.is_empty()), "round {round}: {found} after {kept}");
        kept = found;
    }
    assert!(acknowledged > 0, "{killed} killed, {acknowledged} acknowledged of {rounds}");
}
