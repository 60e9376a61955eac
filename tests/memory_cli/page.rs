//! The page of the command runs as it stands.

use std::path::Path;
use std::process::Command;

use super::Place;

/// A fenced block: its language, what it holds, and the line of prose before it.
struct Block<'p> {
    language: &'p str,
    text: &'p str,
    before: &'p str,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut pieces = page.split("```");
    let mut before = pieces.next().unwrap_or_default();
    let mut blocks = Vec::new();
    while let (Some(block), Some(after)) = (pieces.next(), pieces.next()) {
        let (language, text) = block.split_once('\n').unwrap();
        let line = before.trim_end().lines().last().unwrap_or_default();
        blocks.push(Block { language, text, before: line });
        before = after;
    }
    blocks
}

/// What a shell in `place` says to `commands`, both streams in one.
fn shell(place: &Place, commands: &str) -> String {
    let programs = Path::new(env!("CARGO_BIN_EXE_curtail")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{commands}")])
        .current_dir(place.0.path())
        .env("PATH", path)
        .env_remove("CURTAIL_STORE")
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The commands of a console block, each with the status that `? N` expects of it, and what they write.
fn session(text: &str) -> (String, String) {
    let (mut commands, mut said) = (String::from("set -e\n"), String::new());
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(command) = line.strip_prefix("$ ") {
            let status = lines.next_if(|line| line.starts_with("? "));
            match status.and_then(|line| line.strip_prefix("? ")) {
                Some(status) => {
                    commands += &format!("set +e\n{command}\n[ $? = {status} ] || echo wrong status\nset -e\n");
                }
                None => commands += &format!("{command}\n"),
            }
        } else {
            said += &format!("{line}\n");
        }
    }
    (commands, said)
}

#[test]
fn the_page_runs() {
    let page = include_str!("../../docs/commands/memory.md");
    let place = Place::new();
    let mut run = 0;
    for Block { language, text, before } in blocks(page) {
        match language {
            "json" => {
                let name = before.rsplit('`').nth(1).unwrap();
                place.file(name, text);
            }
            "console" => {
                let (commands, said) = session(text);
                assert_eq!(shell(&place, &commands), said, "{commands}");
                run += 1;
            }
            other => panic!("a block of {other:?}"),
        }
    }
    assert!(run > 5, "hardly any block was found");
}
