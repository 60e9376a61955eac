//! Tests in JavaScript: jest, vitest and mocha.

use super::{Outcome, number_before};

/// Titles of sections that are no tests.
const SECTIONS: &[&str] = &["Console", "Test suite failed to run", "Validation"];

/// Reads `● suite › test`, `FAIL file > test`, `✕ test`, mocha's numbered list, and the counts.
pub(super) fn read_output(output: &str) -> Option<Outcome> {
    let mut outcome = Outcome::from_runner("jest");
    let (mut files, mut marked) = (Vec::new(), Vec::new());
    let mut counted = None;
    for line in output.lines() {
        let trimmed = line.trim();
        if let Some(name) = trimmed.strip_prefix("● ") {
            if !SECTIONS.iter().any(|section| name.starts_with(section)) && name.contains('›') {
                outcome.fail(name);
            }
        } else if let Some(rest) = trimmed.strip_prefix("FAIL ").map(str::trim) {
            let rest = rest.split_once(" [").map_or(rest, |(name, _)| name);
            if rest.contains(" > ") {
                outcome.fail(rest);
            } else if is_file(rest) {
                files.push(rest);
            }
        } else if let Some(name) = ["✕ ", "✗ ", "× "].iter().find_map(|mark| trimmed.strip_prefix(mark)) {
            marked.push(name.rsplit_once(" (").map_or(name, |(name, _)| name));
        } else if trimmed.starts_with("Tests:") || trimmed.starts_with("Test Suites:") || trimmed.starts_with("Tests  ")
        {
            let failed = number_before(trimmed, " failed").unwrap_or(0);
            counted = Some(counted.unwrap_or(0) + failed);
        } else if trimmed.ends_with(" failing") || trimmed.contains(" passing (") {
            counted = Some(counted.unwrap_or(0) + number_before(trimmed, " failing").unwrap_or(0));
        }
    }
    let failed = counted?;
    if failed > 0 && outcome.failed.is_empty() {
        let mocha = mocha(output);
        let names = [mocha.iter().map(String::as_str).collect(), marked, files]
            .into_iter()
            .find(|names: &Vec<&str>| !names.is_empty());
        names.unwrap_or_default().into_iter().for_each(|name| outcome.fail(name));
    }
    outcome.counted(failed);
    outcome.known()
}

fn is_file(text: &str) -> bool {
    let name = text.split(' ').next().unwrap_or_default();
    [".js", ".ts", ".jsx", ".tsx", ".mjs", ".cjs"].iter().any(|end| name.ends_with(end))
}

/// The list at the end of mocha's output: a number, the suite, and the test on the next lines up to a colon.
fn mocha(output: &str) -> Vec<String> {
    let Some((_, list)) = output.split_once(" failing") else { return Vec::new() };
    let mut names: Vec<String> = Vec::new();
    let mut open = false;
    for line in list.lines().map(str::trim) {
        let begins = line.split_once(") ").filter(|(number, _)| number.parse::<usize>().is_ok());
        let part = if let Some((_, part)) = begins {
            names.push(String::new());
            part
        } else if open {
            line
        } else {
            continue;
        };
        open = !part.ends_with(':');
        if let Some(name) = names.last_mut() {
            name.push_str(if name.is_empty() { "" } else { " " });
            name.push_str(part.trim_end_matches(':'));
        }
    }
    names
}
