//! Places to work in and transcripts to work on.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use assert_cmd::Command;

/// The program.
pub fn program() -> &'static str {
    env!("CARGO_BIN_EXE_curtail")
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
        let mut command = Command::new(program());
        command.current_dir(self.0.path()).args(arguments);
        command
    }

    /// The names at the top, in order.
    pub fn list(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
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

/// How often the key stands in the file, which has it nowhere else.
pub fn lines_of(place: &Place, name: &str, key: &str) -> u64 {
    text(&place.read(name)).matches(&format!("\"{key}\"")).count() as u64
}

pub fn gzip(text: &str) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(text.as_bytes()).unwrap();
    packer.finish().unwrap()
}

pub fn zstd(text: &str) -> Vec<u8> {
    zstd::encode_all(text.as_bytes(), 1).unwrap()
}
