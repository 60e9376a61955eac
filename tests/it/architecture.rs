//! What Cargo cannot say of the crates: each file opens with what it is for, and one module writes to the terminal.

use std::path::{Path, PathBuf};

fn source() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The source files of the program and of its crates.
fn files() -> Vec<PathBuf> {
    let mut folders = vec![source().join("src")];
    let crates = std::fs::read_dir(source().join("crates")).expect("crates can be read");
    folders.extend(crates.map(|entry| entry.expect("crates can be read").path().join("src")));
    folders.sort();
    let walk = |folder: &PathBuf| {
        ignore::WalkBuilder::new(folder).standard_filters(false).sort_by_file_path(Path::cmp).build()
    };
    let paths = folders.iter().flat_map(walk).map(|entry| entry.expect("a source folder can be read").into_path());
    paths.filter(|path| path.extension().is_some_and(|kind| kind == "rs")).collect()
}

#[test]
fn files_say_what_they_are_for() {
    let mut wrong = Vec::new();
    for file in files() {
        let text = std::fs::read_to_string(&file).expect("a source file");
        if !text.starts_with("//!") {
            wrong.push(format!("{}: does not open with what it is for", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// One module writes to standard output and standard error, so that no new message can forget to make visible what it
/// quotes. Colors and progress bars are named where they are made.
#[test]
fn one_module_writes_to_the_terminal() {
    // `main.rs` asks whether standard output is open, before anything is written.
    const ALLOWED: [&str; 2] = ["src/console.rs", "src/main.rs"];
    const WRITERS: [&str; 10] = [
        "println!", "eprintln!", "print!(", "eprint!(", "stdout()", "stderr()", "anstream::", "/dev/tty",
        "/dev/stdout", "/dev/stderr",
    ];
    let mut wrong = Vec::new();
    for file in files() {
        let name = file.strip_prefix(source()).expect("below the root").to_string_lossy().into_owned();
        if ALLOWED.contains(&name.as_str()) {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("a source file");
        let code = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
        for (at, line) in code {
            let writes =
                WRITERS.iter().any(|writer| line.match_indices(writer).any(|(at, _)| ends_as_a_word(&line[..at])));
            // What a child process writes to is set by name; the bars and the colors of a text are no writers.
            let other = ["ProgressDrawTarget::stderr()", "anstream::adapter::strip_str"];
            if writes && !other.iter().any(|part| line.contains(part)) {
                wrong.push(format!("{name}:{}: {}", at + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "write through src/console.rs:\n{}", wrong.join("\n"));
}

/// Whether a name that follows `before` begins there: `is_stdout()` is not `stdout()`.
fn ends_as_a_word(before: &str) -> bool {
    !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
}
