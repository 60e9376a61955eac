//! The architecture page is true: which room may use which, how long a file may be, and that no room is missing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The "may use" table of `docs/architecture.md`: each folder or file below `src`, and the ones that it uses.
fn table() -> BTreeMap<String, BTreeSet<String>> {
    let page = std::fs::read_to_string(source().join("../docs/architecture.md")).expect("docs/architecture.md");
    let rows = page.lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix("| `src/")?.trim_end_matches('|').split('|').map(str::trim).collect();
        let name = cells.first()?.trim_end_matches('`').trim_end_matches('/').trim_end_matches(".rs");
        let uses = cells.last()?.split(',').map(str::trim).filter(|other| *other != "nothing");
        Some((name.to_owned(), uses.map(str::to_owned).collect()))
    });
    rows.collect()
}

/// What each folder or file below `src` really uses. `main`, `lib` and the build script may use everything.
fn edges() -> BTreeMap<String, BTreeSet<String>> {
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in files() {
        let room = room(&file);
        if ["main", "lib"].contains(&room.as_str()) || file.starts_with(source().join("tokenizers/build")) {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("a source file");
        let others = used(&text).into_iter().filter(|other| *other != room);
        edges.entry(room.clone()).or_default().extend(others);
    }
    edges
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files() -> Vec<PathBuf> {
    let walk = ignore::WalkBuilder::new(source()).standard_filters(false).sort_by_file_path(Path::cmp).build();
    let paths = walk.map(|entry| entry.expect("src can be read").into_path());
    paths.filter(|path| path.extension().is_some_and(|kind| kind == "rs")).collect()
}

/// The room of a file: the folder below `src`, or the file itself.
fn room(file: &Path) -> String {
    let inside = file.strip_prefix(source()).expect("below src");
    let first = inside.components().next().expect("a name").as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
}

/// The rooms that a text names through `crate::`, comments left out.
fn used(text: &str) -> Vec<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let names = code.split("crate::").skip(1).flat_map(|rest| {
        let list = rest.strip_prefix('{').map(|rest| rest.split('}').next().unwrap_or(""));
        let one = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
        let many =
            list.into_iter().flat_map(|list| list.split(',')).map(|name| name.trim().split("::").next().unwrap_or(""));
        many.chain([one]).map(str::to_owned).collect::<Vec<_>>()
    });
    names.filter(|name| source().join(name).is_dir() || source().join(format!("{name}.rs")).is_file()).collect()
}

#[test]
fn the_table_lists_exactly_the_edges_that_exist() {
    let (table, edges) = (table(), edges());
    let mut wrong = Vec::new();
    for name in table.keys().chain(edges.keys()).collect::<BTreeSet<_>>() {
        match (table.get(name), edges.get(name)) {
            (Some(listed), Some(found)) => {
                wrong.extend(found.difference(listed).map(|other| format!("{name} uses {other}: not in the table")));
                wrong.extend(listed.difference(found).map(|other| format!("{name} lists {other}: does not use it")));
            }
            (Some(_), None) => wrong.push(format!("{name}: in the table, but not in src")),
            (None, _) => wrong.push(format!("{name}: in src, but not in the table")),
        }
    }
    assert!(wrong.is_empty(), "docs/architecture.md, table \"may use\":\n{}", wrong.join("\n"));
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
    const ALLOWED: [&str; 2] = ["console.rs", "main.rs"];
    const WRITERS: [&str; 10] = [
        "println!",
        "eprintln!",
        "print!(",
        "eprint!(",
        "stdout()",
        "stderr()",
        "anstream::",
        "/dev/tty",
        "/dev/stdout",
        "/dev/stderr",
    ];
    let mut wrong = Vec::new();
    for file in files() {
        let name = file.strip_prefix(source()).expect("below src").to_string_lossy().into_owned();
        if ALLOWED.contains(&name.as_str()) || file.starts_with(source().join("tokenizers/build")) {
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
