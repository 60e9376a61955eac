//! Known findings: a baseline keeps them from failing a check, wherever their lines move, and new ones still fail.

use crate::program::{Place, text};

fn run(place: &Place, arguments: &[&str]) -> (i32, String, String) {
    let done = place.curtail(arguments).output().unwrap();
    (done.status.code().unwrap(), text(&done.stdout), text(&done.stderr))
}

/// A chat with a result that answers no call, as a line.
fn orphan(id: &str) -> String {
    format!(
        "{{\"messages\":[{{\"role\":\"user\",\"content\":\"go\"}},{{\"role\":\"tool\",\"tool_call_id\":\"{id}\",\"content\":\"x\"}},{{\"role\":\"assistant\",\"content\":\"done\"}}]}}\n"
    )
}

fn sound() -> String {
    "{\"messages\":[{\"role\":\"user\",\"content\":\"go\"},{\"role\":\"assistant\",\"content\":\"done\"}]}\n".repeat(3)
}

fn known() -> Place {
    let place = Place::new();
    place.write("data/a.jsonl", (orphan("one") + &orphan("two")).as_bytes());
    let (status, out, stderr) = run(&place, &["check", "data", "--write-baseline", "known.json"]);
    assert_eq!((status, stderr.as_str()), (0, ""));
    assert_eq!(out, "no findings in 2 transcripts of 1 file; 2 known by known.json\n");
    place
}

#[test]
fn known_findings_pass_although_their_lines_move() {
    let place = known();
    let (status, out, _) = run(&place, &["check", "data", "--baseline", "known.json"]);
    assert_eq!((status, out.as_str()), (0, "no findings in 2 transcripts of 1 file; 2 known by known.json\n"));
    place.write("data/a.jsonl", (sound() + &orphan("two") + &sound() + &orphan("one")).as_bytes());
    let (status, out, stderr) = run(&place, &["check", "data", "--baseline", "known.json"]);
    assert_eq!((status, stderr.as_str()), (0, ""), "{out}");
    // The baseline is found from another folder, too.
    let from_inside = "cd data && curtail check a.jsonl --baseline ../known.json";
    let output = crate::program::shell(from_inside, &place.path("")).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stdout));
}

#[test]
fn new_findings_fail_even_if_they_equal_known_ones() {
    let place = known();
    for more in [orphan("three"), orphan("two")] {
        place.write("data/a.jsonl", (orphan("one") + &orphan("two") + &more).as_bytes());
        let (status, out, _) = run(&place, &["check", "data", "--baseline", "known.json"]);
        assert_eq!(status, 1, "{out}");
        assert!(out.contains("1 error in 3 transcripts of 1 file; 2 known by known.json"), "{out}");
    }
    place.write("data/b.jsonl", orphan("one").as_bytes());
    place.write("data/a.jsonl", (orphan("one") + &orphan("two")).as_bytes());
    let (status, out, _) = run(&place, &["check", "data", "--baseline", "known.json"]);
    assert!(status == 1 && out.contains("data/b.jsonl:1"), "{out}");
}

#[test]
fn findings_that_are_gone_are_said() {
    let place = known();
    place.write("data/a.jsonl", orphan("two").as_bytes());
    let (status, out, stderr) = run(&place, &["check", "data", "--baseline", "known.json"]);
    assert!(status == 0 && out.contains("1 known by known.json, and 1 gone"), "{out}");
    assert!(stderr.contains("1 finding gone: orphan-result in data/a.jsonl; --write-baseline known.json"), "{stderr}");
    // Findings of files that are not checked are not gone.
    place.write("other.jsonl", sound().as_bytes());
    let (_, out, stderr) = run(&place, &["check", "other.jsonl", "--baseline", "known.json"]);
    assert!(stderr.is_empty() && out.contains("0 known by known.json"), "{out}{stderr}");
    let json = run(&place, &["check", "data", "--baseline", "known.json", "--output-format", "json"]).1;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let known = serde_json::json!({"baseline": "known.json", "findings": 1, "stale": 1});
    assert_eq!(json["summary"]["known"], known);
}

/// Checks a path against the baseline: the status, the report, and whether something is said to be gone.
fn known_in(place: &Place, path: &str) -> (i32, String, bool) {
    let (status, out, stderr) = run(place, &["check", path, "--baseline", "known.json"]);
    (status, out, stderr.contains("gone"))
}

/// What the note says about one file costs no entry of another, nor of what was checked on standard input.
#[test]
fn a_baseline_keeps_what_a_run_did_not_check() {
    let place = known();
    place.write("data/c.jsonl", orphan("three").as_bytes());
    let piped = "curtail check --write-baseline known.json < data/c.jsonl && curtail check data/c.jsonl --write-baseline known.json";
    assert!(crate::program::shell(piped, &place.path("")).output().unwrap().status.success());
    let (status, out, gone) = known_in(&place, "data");
    assert!(status == 0 && !gone, "{out}");
    place.write("data/c.jsonl", sound().as_bytes());
    let (status, out, gone) = known_in(&place, "data/c.jsonl");
    assert!(status == 0 && gone, "{out}");
    run(&place, &["check", "data/c.jsonl", "--write-baseline", "known.json"]);
    let (status, out, gone) = known_in(&place, "data");
    assert!(status == 0 && !gone, "{out}");
}

#[test]
fn a_baseline_replaces_only_a_baseline() {
    let place = known();
    let (status, _, stderr) = run(&place, &["check", "data", "--write-baseline", "data/a.jsonl"]);
    assert!(status == 2 && stderr.contains("is not a baseline"), "{stderr}");
    let (status, _, stderr) = run(&place, &["check", "data", "--baseline", "none.json"]);
    assert!(status == 2 && stderr.contains("--write-baseline none.json"), "{stderr}");
    place.write("data/a.jsonl", sound().as_bytes());
    let (status, out, _) = run(&place, &["check", "data", "--write-baseline", "known.json"]);
    assert!(status == 0 && out.contains("; 0 known by known.json"), "{out}");
}
