//! The house keeps its shape: who may use whom, how long a file may be, and that no room is left out of the plan.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Who may use whom. `error` stands beside `io`: a kind and a place, for those who talk to the user.
const MAY_USE: &[(&str, &[&str])] = &[
    ("json", &[]),
    ("tokenizers", &["suggest", "error"]),
    ("store", &["error"]),
    ("digest", &[]),
    ("error", &[]),
    ("suggest", &[]),
    ("transcript", &["json"]),
    ("dialects", &["json", "suggest", "transcript", "digest"]),
    ("summarizers", &["digest", "error"]),
    ("memory", &["store", "digest"]),
    ("processors", &["json", "transcript", "tokenizers", "summarizers", "memory"]),
    ("checks", &["json", "suggest", "transcript", "tokenizers"]),
    ("reports", &["checks"]),
    ("edit", &["json", "transcript", "dialects", "processors"]),
    ("rolling", &["json", "transcript", "dialects", "edit", "processors", "summarizers", "store", "digest"]),
    ("pipeline", &["dialects", "edit", "error", "processors", "suggest", "tokenizers", "transcript"]),
    ("io", &["error", "json"]),
    ("batch", &["error", "io", "json", "transcript", "dialects", "processors", "edit", "checks", "pipeline"]),
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files() -> Vec<PathBuf> {
    let walk = ignore::WalkBuilder::new(source()).standard_filters(false).sort_by_file_path(Path::cmp).build();
    let paths = walk.map(|entry| entry.expect("src can be read").into_path());
    paths.filter(|path| path.extension().is_some_and(|kind| kind == "rs")).collect()
}

/// The room that a file stands in: the folder below `src`, or the file itself.
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
fn rooms_use_only_whom_they_may() {
    let table: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    let mut wrong = Vec::new();
    for file in files() {
        let room = room(&file);
        let free =
            ["main", "lib", "cli"].contains(&room.as_str()) || file.starts_with(source().join("tokenizers/build"));
        let may = table.get(room.as_str());
        if free {
            continue;
        }
        let may = may.unwrap_or_else(|| panic!("{room} stands in no plan"));
        let text = std::fs::read_to_string(&file).expect("a source file");
        let strangers = used(&text).into_iter().filter(|other| *other != room && !may.contains(&other.as_str()));
        wrong.extend(strangers.map(|other| format!("{}: uses {other}", file.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_plan_names_every_room() {
    let plan = std::fs::read_to_string(source().join("../docs/architecture.md")).expect("docs/architecture.md");
    for (room, _) in MAY_USE {
        assert!(
            plan.contains(&format!("{room}/")) || plan.contains(&format!("{room}.rs")),
            "docs/architecture.md lacks {room}"
        );
        let there = source().join(room).is_dir() || source().join(format!("{room}.rs")).is_file();
        assert!(there, "{room} is planned but not built");
    }
}

#[test]
fn files_are_short_and_say_what_they_are_for() {
    let mut wrong = Vec::new();
    for file in files() {
        let text = std::fs::read_to_string(&file).expect("a source file");
        let lines = text.lines().count();
        if lines > 400 {
            wrong.push(format!("{}: {lines} lines, 400 is the most", file.display()));
        }
        if !text.starts_with("//!") {
            wrong.push(format!("{}: does not open with what it is for", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
