//! The library and the program find the same: `curtail_core::check` and `curtail check` on every fixture, and on every text in
//! the folder that `CURTAIL_DATA` names.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::program::command;

/// The texts in a folder.
fn texts(root: &Path) -> impl Iterator<Item = (PathBuf, String)> {
    let walk = ignore::WalkBuilder::new(root).standard_filters(false).sort_by_file_path(Path::cmp).build();
    let files = walk.map(|entry| entry.unwrap().into_path()).filter(|path| path.is_file());
    files.filter_map(|path| Some((path.clone(), std::fs::read_to_string(path).ok()?)))
}

/// What the program finds in `text`: nothing if it cannot read it.
fn found_by_program(text: &str) -> Option<Value> {
    let folder = tempfile::tempdir().unwrap();
    let check = command(folder.path(), &["check", "--output-format", "json", "-"]);
    let output = assert_cmd::Command::from(check).write_stdin(text).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (output.status.code() != Some(2)).then(|| report["findings"].clone())
}

fn brief(finding: &Value) -> Value {
    json!([
        finding["code"], finding["level"], finding["message"], finding["help"], finding["at"], finding["other_half"]
    ])
}

fn found_by_library(text: &str) -> Vec<Value> {
    let found = curtail_core::check(text).into_iter().map(|finding| {
        let [at, other] = [Some(&finding.at), finding.other.as_ref()].map(|place| serde_json::to_value(place).unwrap());
        json!([finding.rule.code, finding.level.name(), finding.message, finding.help, at, other])
    });
    found.collect()
}

#[test]
fn library_and_program_find_the_same() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let data = std::env::var_os("CURTAIL_DATA").map(PathBuf::from);
    let mut compared = 0;
    for (path, text) in std::iter::once(fixtures).chain(data).flat_map(|root| texts(&root).collect::<Vec<_>>()) {
        // In a text without a transcript, nothing is wrong; the program says that there was nothing to check.
        if text.trim().is_empty() {
            continue;
        }
        let library = found_by_library(&text);
        match found_by_program(&text) {
            Some(program) => {
                let program: Vec<Value> = program.as_array().unwrap().iter().map(brief).collect();
                assert_eq!(library, program, "{}", path.display());
                compared += 1;
            }
            None => assert!(library.iter().any(|finding| finding[0] == "S001"), "{}: {library:?}", path.display()),
        }
    }
    assert!(compared > 200, "only {compared} texts were compared");
}
