//! The one runner of the program, places to work in, and transcripts to work on.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::Command;

/// When a test gives up waiting for what never comes, rather than hang. Nothing is expected to take a certain time.
pub const GUARD: Duration = Duration::from_mins(10);

/// Waits until `done`.
pub fn wait_until(event: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < GUARD, "{event}: waited in vain");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The program.
pub fn program() -> &'static str {
    env!("CARGO_BIN_EXE_curtail")
}

/// The root of the project.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The variables that a process needs of the user's environment. It gets no other, since the program and those that it starts
/// read many.
const PASSED: [&str; 6] = ["PATH", "LANG", "TMPDIR", "TEMP", "SystemRoot", "LLVM_PROFILE_FILE"];

/// A program in `folder`, which is also its home, without standard input and the user's environment.
pub fn isolated(name: &str, folder: &Path) -> std::process::Command {
    let mut command = std::process::Command::new(name);
    command.env_clear().envs(PASSED.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command.current_dir(folder).env("HOME", folder).env("XDG_STATE_HOME", folder.join("state")).stdin(Stdio::null());
    command
}

/// The program with `arguments` in `folder`, isolated.
pub fn command(folder: &Path, arguments: &[&str]) -> std::process::Command {
    let mut command = isolated(program(), folder);
    command.args(arguments);
    command
}

/// A shell that runs `line` in `folder`, isolated, with the program on its `PATH`.
pub fn shell(line: &str, folder: &Path) -> std::process::Command {
    let mut shell = isolated("sh", folder);
    shell.arg("-c").arg(line).env("PATH", path());
    shell
}

/// As [`shell`], on a terminal, which `script` of util-linux opens.
pub fn terminal(line: &str, folder: &Path) -> std::process::Command {
    let mut script = isolated("script", folder);
    script.args(["-qec", line, "/dev/null"]).env("PATH", path()).env("TERM", "xterm");
    script
}

/// The `PATH`, with the folder of the program first.
fn path() -> String {
    let programs = Path::new(program()).parent().expect("a folder");
    format!("{}:{}", programs.display(), std::env::var("PATH").expect("PATH"))
}

/// Runs the program in the root of the project with `input` on standard input.
pub fn run(arguments: &[&str], input: &str) -> Output {
    Command::from(command(root(), arguments)).write_stdin(input).output().expect("the program runs")
}

/// A directory of its own, gone at the end.
pub struct Place(tempfile::TempDir);

impl Place {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The program, to be run in this directory.
    pub fn curtail(&self, arguments: &[&str]) -> Command {
        Command::from(command(self.0.path(), arguments))
    }

    /// As [`curtail`](Self::curtail), to be started and watched.
    pub fn command(&self, arguments: &[&str]) -> std::process::Command {
        command(self.0.path(), arguments)
    }

    /// The names at the top, in order.
    pub fn list(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// What a debug build counts of a run.
#[derive(Debug, Clone, Copy)]
pub struct Work {
    /// Bytes scanned, places visited, values compared.
    pub steps: u64,
    /// Bytes allocated.
    pub allocated: u64,
    /// The most bytes that were allocated at once.
    pub peak: u64,
}

impl Place {
    /// The work of a run of `arguments`. A release build counts none.
    pub fn work(&self, arguments: &[&str]) -> Work {
        let output = self.curtail(arguments).env("CURTAIL_WORK", self.path("work")).output().unwrap();
        assert_ne!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stderr));
        self.counted()
    }

    /// The work of the last run whose variable `CURTAIL_WORK` named the file `work`.
    pub fn counted(&self) -> Work {
        let counted = text(&self.read("work"));
        let figure = |name: &str| {
            let mut lines = counted.lines().filter_map(|line| line.split_once(' '));
            lines.find(|(label, _)| *label == name).and_then(|(_, figure)| figure.parse().ok()).expect(name)
        };
        Work { steps: figure("steps"), allocated: figure("allocated"), peak: figure("peak") }
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A chat of so many rounds of question, call, result and answer, after a system message.
pub fn chat(id: &str, rounds: usize) -> String {
    let mut line = format!(r#"{{"id": "{id}", "messages": [{{"role": "system", "content": "be brief"}}"#);
    for round in 1..=rounds {
        write!(
            line,
            r#", {{"role": "user", "content": "question {round} of {id}"}}, {{"role": "assistant", "content": null, "tool_calls": [{{"id": "c{round}", "type": "function", "function": {{"name": "look", "arguments": "{{}}"}}}}]}}, {{"role": "tool", "tool_call_id": "c{round}", "content": "found\n\"{round}\""}}, {{"role": "assistant", "content": "answer {round}"}}"#
        )
        .unwrap();
    }
    line.push_str("]}\n");
    line
}

/// So many chats, of one to nine rounds.
pub fn chats(count: usize) -> String {
    (0..count).map(|nth| chat(&format!("chat-{nth}"), 1 + nth % 9)).collect()
}

pub fn gzip(text: &str) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(text.as_bytes()).unwrap();
    packer.finish().unwrap()
}

pub fn zstd(text: &str) -> Vec<u8> {
    zstd::encode_all(text.as_bytes(), 1).unwrap()
}
