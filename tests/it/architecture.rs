//! What Cargo cannot say of the crates: each file opens with what it is for, and one module writes to the terminal.

use std::collections::{BTreeMap, BTreeSet};
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

/// Layers go down: no two files of a crate need each other, directly or through others. The file of a folder puts together what is in
/// the folder, which may use what that file defines: names of its own modules without a `self::` are not counted.
#[test]
fn no_circle_of_files() {
    let mut needs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let modules: BTreeSet<String> = files().iter().map(|file| module(file)).collect();
    for file in files() {
        let text = std::fs::read_to_string(&file).expect("a source file");
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let own = module(&file);
        let parent = own.rsplit_once("::").map_or("", |(parent, _)| parent).to_owned();
        let root = own.split("::").next().unwrap_or_default().to_owned();
        let here = if file.ends_with("mod.rs") || file.ends_with("lib.rs") { own.clone() } else { parent.clone() };
        let code: String = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        for (word, from) in [("super::", &parent), ("self::", &here), ("crate::", &root)] {
            for (at, _) in code.match_indices(word).filter(|(at, _)| ends_as_a_word(&code[..*at])) {
                let (from, rest) = above(from, &code[at + word.len()..]);
                let end = rest.find(|sign: char| !sign.is_alphanumeric() && !"_:".contains(sign)).unwrap_or(rest.len());
                // `use super::a::{b, c};`
                let group =
                    rest[end..].strip_prefix('{').and_then(|group| Some(group.split_once('}')?.0)).unwrap_or("");
                for name in group.split(',').map(str::trim) {
                    let path = format!("{from}::{}{name}", &rest[..end]);
                    let ends = path.match_indices("::").map(|(at, _)| at).chain([path.len()]);
                    let target = ends.map(|end| &path[..end]).filter(|path| modules.contains(*path)).last();
                    if let Some(target) = target.filter(|target| *target != own) {
                        needs.entry(own.clone()).or_default().insert(target.to_owned());
                    }
                }
            }
        }
    }
    // What needs nothing that is left, and what nothing that is left needs, stands in no circle.
    while let Some(free) = needs.iter().find_map(|(name, of_name)| {
        let is_end = !of_name.iter().any(|needed| needs.contains_key(needed));
        let is_start = !needs.values().any(|others| others.contains(name));
        (is_end || is_start).then(|| name.clone())
    }) {
        needs.remove(&free);
    }
    assert!(needs.is_empty(), "{needs:#?}");
}

/// The module above `from` that each further `super::` names, and what follows.
fn above<'a>(mut from: &'a str, mut rest: &'a str) -> (&'a str, &'a str) {
    while let (Some(after), Some((parent, _))) = (rest.strip_prefix("super::"), from.rsplit_once("::")) {
        (from, rest) = (parent, after);
    }
    (from, rest)
}

/// The path of a file's module, with its crate in front.
fn module(file: &Path) -> String {
    let path = file.strip_prefix(source()).expect("below the root").with_extension("");
    let name = path.to_string_lossy().replace("crates/", "").replace("/src/", "/").replace('/', "::");
    let name = if let Some(of_program) = name.strip_prefix("src::") { format!("curtail::{of_program}") } else { name };
    name.trim_end_matches("::mod").trim_end_matches("::lib").to_owned()
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
