//! `curtail check` from outside: its status, its order and what it keeps in memory; by topic in the modules.

mod answer;
mod baseline;
mod config;
mod documents;
mod faults;
mod fix;
mod found;
mod library;
mod logs;
mod peers;
mod report;
mod rules;
mod sound;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

use crate::program::{command, isolated};

const CALL: &str = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{}"}}]}"#;
const RESULT: &str = r#"{"role":"tool","tool_call_id":"call_1","content":"rain"}"#;
const ASK: &str = r#"{"role":"user","content":"Is it raining in Oslo?"}"#;
const SAY: &str = r#"{"role":"assistant","content":"It is."}"#;

fn curtail(folder: &Path, args: &[&str]) -> std::process::Output {
    command(folder, args).output().unwrap()
}

fn check(args: &[&str], text: &str) -> (i32, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let check = command(folder.path(), &[&["check"], args].concat());
    let output = Command::from(check).write_stdin(text).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn lines(items: &[&str]) -> String {
    items.iter().map(|item| format!("{item}\n")).collect()
}

fn json(args: &[&str], text: &str) -> Value {
    let (_, out, err) = check(&[&["--output-format", "json"], args].concat(), text);
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out} {err}"))
}

/// The findings as `rule level line:column`.
fn reported(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap().iter();
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let line = |finding: &Value| format!("{}:{}", finding["at"]["line"], finding["at"]["column"]);
    findings.map(|one| format!("{} {} {}", word(&one["rule"]), word(&one["level"]), line(one))).collect()
}

/// The code and the place of every finding in a document, except the rules that are off by default.
fn places(document: &Value) -> BTreeSet<(String, String)> {
    let text = document.to_string().replace("HALF", "\\ud83e");
    let output = crate::program::run(&["check", "--output-format", "json"], &text);
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    let findings = report["findings"].as_array().expect("findings").iter();
    let of = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    findings.map(|finding| (of(finding, "code"), of(&finding["at"], "pointer"))).collect()
}

fn expected(places: &[(&str, &str)]) -> BTreeSet<(String, String)> {
    places.iter().map(|(code, pointer)| ((*code).to_owned(), (*pointer).to_owned())).collect()
}

#[test]
fn the_status_says_what_was_found() {
    let (clean, orphan, pending) = (lines(&[ASK, SAY]), lines(&[ASK, RESULT, SAY]), lines(&[ASK, CALL]));
    let cases: [(&[&str], &str, i32); 14] = [
        (&[], &clean, 0),
        (&[], &orphan, 1),
        (&["--exit-zero"], &orphan, 0),
        (&["-A", "orphan-result"], &orphan, 0),
        (&["-A", "all", "-W", "pairing"], &orphan, 0),
        (&["-A", "P001", "--strict"], &orphan, 0),
        (&["-W", "P001", "--strict"], &orphan, 1),
        (&[], &pending, 0),
        (&["--strict"], &pending, 1),
        (&["-D", "pending-call"], &pending, 1),
        (&[], "", 2),
        (&["--allow-empty"], "", 0),
        (&["-D", "no-such-rule"], &clean, 2),
        (&["--profile", "no-such-provider"], &clean, 2),
    ];
    for (args, text, status) in cases {
        let (code, out, err) = check(args, text);
        assert_eq!(code, status, "{args:?}\n{out}{err}");
    }
}

#[test]
fn strict_fails_on_findings_that_only_warn_of_rules_that_fail() {
    let glued = fs::read_to_string("fixtures/dialects/claude-code/glued.jsonl").unwrap();
    let (whole, torn) = glued.rsplit_once('\n').unwrap();
    assert!(!torn.is_empty());
    for (status, args) in [(0, &[][..]), (1, &["--strict"])] {
        let (found, out, _) = check(args, whole);
        assert_eq!(found, status, "{args:?}: {out}");
    }
}

#[test]
fn the_order_of_findings_does_not_depend_on_the_jobs() {
    let folder = tempfile::tempdir().unwrap();
    let filler = format!("{{\"messages\":[{ASK},{{\"role\":\"assistant\",\"content\":\"{}\"}}]}}\n", "z".repeat(3000));
    let broken = format!("{{\"messages\":[{ASK},{RESULT},{SAY}]}}\n");
    for file in 0..4 {
        let text: String =
            (0..600).map(|nth| if nth % (7 + file) == 0 { broken.as_str() } else { filler.as_str() }).collect();
        fs::write(folder.path().join(format!("{file}.jsonl")), text).unwrap();
    }
    let report_with =
        |jobs: &str| curtail(folder.path(), &["check", "--jobs", jobs, "--output-format", "json", "."]).stdout;
    let one = report_with("1");
    let report: Value = serde_json::from_slice(&one).unwrap();
    assert!(report["summary"]["denied"].as_u64().unwrap() > 200);
    assert_eq!(report_with("8"), one);
    // Every place is the place in its file, whatever block it came in.
    for finding in report["findings"].as_array().unwrap().iter().step_by(17) {
        let text = fs::read_to_string(folder.path().join(finding["file"].as_str().unwrap())).unwrap();
        let offset = usize::try_from(finding["at"]["offset"].as_u64().unwrap()).unwrap();
        let line = usize::try_from(finding["at"]["line"].as_u64().unwrap()).unwrap();
        assert!(text[offset..].starts_with(RESULT), "{finding}");
        assert_eq!(text[..offset].matches('\n').count() + 1, line);
    }
}

/// A dataset may have millions of findings: what is written is not kept.
#[cfg(target_os = "linux")]
#[test]
fn findings_take_no_memory_once_they_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let record = format!("{{\"messages\":[{ASK},{},{SAY}]}}\n", vec![RESULT; 50].join(","));
    fs::write(folder.path().join("a.jsonl"), record.repeat(2000)).unwrap();
    // The program takes 70 MB of addresses, a hundred thousand findings another 60.
    let line = format!("ulimit -v 110000; exec {} check -j 1 a.jsonl > report", crate::program::program());
    let done = isolated("bash", folder.path()).args(["-c", &line]).output().unwrap();
    let report = fs::read_to_string(folder.path().join("report")).unwrap();
    let last = report.lines().last().map(str::to_owned);
    assert_eq!(done.status.code(), Some(1), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(last.as_deref(), Some("100,000 errors in 2,000 transcripts of 1 file"));
    assert_eq!(report.matches("error[").count(), 100_000);
}
