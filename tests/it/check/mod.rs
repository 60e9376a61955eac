//! `curtail check` from outside: its report in every format, the places of findings, and its exit status.

mod answer;
mod baseline;
mod config;
mod faults;
mod fix;
mod library;
mod logs;
mod peers;
mod rules;
mod sound;

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::{Value, json};

use crate::program::{Place, command, text};

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
fn the_text_shows_the_line_and_what_to_do() {
    let (_, out, _) = check(&["--stdin-filename", "chat.jsonl"], &lines(&[ASK, RESULT, SAY]));
    let expected = r#"error[P001]: the result of `call_1` answers no earlier call (orphan-result)
 --> chat.jsonl:2:1 (message 1)
  |
2 | {"role":"tool","tool_call_id":"call_1","content":"rain"}
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = the provider answers: Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.
  = help: put its call back before the result, or drop the result: `--fix` drops it

P001 orphan-result      1 denied
1 error in 1 transcript of 1 file
"#;
    assert_eq!(out, expected);
}

#[test]
fn a_long_line_is_clipped_around_the_place() {
    let long = format!(
        r#"{{"messages":[{{"role":"user","content":"{}"}},{{"role":"tool","tool_call_id":"x","content":"{}"}}]}}"#,
        "ä\\n".repeat(5000),
        "y".repeat(5000)
    );
    let (_, out, _) = check(&["--framing", "records", "--dialect", "openai", "-A", "dataset"], &long);
    let shown = out.lines().find(|line| line.starts_with("1 |")).unwrap();
    assert!(shown.chars().count() < 120 && shown.contains(r#"{"role":"tool""#), "{shown}");
    let carets = out.lines().find(|line| line.contains('^')).unwrap();
    let column = |line: &str, words: char| line.chars().position(|c| c == words);
    assert_eq!(
        carets.chars().position(|c| c == '^'),
        shown.chars().collect::<String>().find("{\"role\":\"tool\"").map(|at| shown[..at].chars().count())
    );
    assert!(column(shown, '…').is_some());
}

#[test]
fn broken_lines_are_findings_and_the_rest_is_checked() {
    let text =
        lines(&[ASK, r#"{"role":"assistant","content":"Let me"#, RESULT, SAY, r#"{"role":"user","content":nul"#]);
    let report = json(&[], &text);
    assert_eq!(reported(&report), ["invalid-json deny 2:38", "orphan-result deny 3:1", "invalid-json deny 5:26"]);
    let document = json(&[], "[\n  {\"role\": \"user\", \"content\": \"x\",}\n]\n");
    assert_eq!(reported(&document), ["invalid-json deny 2:35"]);
    let records = format!(
        "{{\"messages\":[{ASK},{SAY}]}}\n{{\"messages\":[{ASK},{SAY}}}\n{{\"messages\":[{ASK},{RESULT},{SAY}]}}\n"
    );
    let report = json(&[], &records);
    assert_eq!(reported(&report)[0].split(' ').next(), Some("invalid-json"));
    assert!(reported(&report)[1].starts_with("orphan-result deny 3:"), "{report}");
    assert_eq!(report["findings"][1]["at"]["pointer"], "/messages/1");
    let at = &report["findings"][1]["at"];
    let offset = usize::try_from(at["offset"].as_u64().unwrap()).unwrap();
    assert_eq!(&records[offset..offset + RESULT.len()], RESULT);
}

#[test]
fn another_providers_rules_can_be_asked_for() {
    let late = r#"{"role":"system","content":"Be brief."}"#;
    let text = lines(&[SAY, ASK, CALL, RESULT, SAY, late]);
    assert_eq!(reported(&json(&[], &text)), ["system-not-first warn 6:1"]);
    // Anthropic takes instructions anywhere.
    assert_eq!(reported(&json(&["--profile", "anthropic"], &text)), ["first-speaker deny 1:1"]);
    let report = json(&["--profile", "bedrock"], &lines(&[ASK, ASK, CALL, RESULT, SAY]));
    assert_eq!(reported(&report), ["alternation warn 2:1"]);
    assert!(report["findings"][0]["provider_answer"].as_str().unwrap().starts_with("A conversation must alternate"));
    let items = lines(&[
        r#"{"type":"message","role":"user","content":"x"}"#,
        r#"{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}"#,
        r#"{"type":"function_call","call_id":"b","name":"f","arguments":"{}"}"#,
        r#"{"type":"function_call_output","call_id":"b","output":"1"}"#,
        r#"{"type":"function_call_output","call_id":"a","output":"2"}"#,
        r#"{"type":"message","role":"assistant","content":"y"}"#,
    ]);
    for profile in ["openai", "anthropic", "gemini", "bedrock", "responses"] {
        assert_eq!(reported(&json(&["--profile", profile], &items)), Vec::<String>::new(), "{profile}");
    }
}

#[test]
fn a_provider_that_holds_state_may_be_sent_a_lone_result() {
    let text = r#"{"type":"function_call_output","call_id":"a","output":"2"}
{"type":"message","role":"assistant","content":"y"}
{"type":"reasoning","id":"rs_1","summary":[]}
"#;
    assert_eq!(reported(&json(&["-A", "turn"], text)), ["orphan-result deny 1:1", "reasoning-without-call deny 3:1"]);
    assert_eq!(reported(&json(&["-A", "turn", "--stateful"], text)), Vec::<String>::new());
}

#[test]
fn levels_are_configured_by_path() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("raw")).unwrap();
    for name in ["raw/a.jsonl", "b.jsonl"] {
        fs::write(folder.path().join(name), lines(&[ASK, RESULT, SAY])).unwrap();
    }
    let config = "[check]\nwarn = ['orphan-result']\n[[check.paths]]\npath = 'raw/**'\nallow = ['all']\n";
    fs::write(folder.path().join("curtail.toml"), config).unwrap();
    let output = curtail(folder.path(), &["check", "--output-format", "json", "raw", "b.jsonl"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        (reported(&report), &report["findings"][0]["file"]),
        (vec!["orphan-result warn 2:1".into()], &"b.jsonl".into())
    );
    let flagged = curtail(folder.path(), &["check", "-D", "pairing", "raw", "b.jsonl"]);
    assert_eq!(flagged.status.code(), Some(1));
    fs::write(folder.path().join("curtail.toml"), "[check]\ndenny = ['x']\n").unwrap();
    let wrong = curtail(folder.path(), &["check", "b.jsonl"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("denny"), "{wrong:?}");
}

#[test]
fn fixing_mends_in_place_and_tells_what_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat.jsonl");
    let broken = lines(&[ASK, CALL, ASK, RESULT, SAY, CALL]);
    let fixed = [("drop", lines(&[ASK, ASK, SAY, CALL])), ("move", lines(&[ASK, CALL, RESULT, ASK, SAY, CALL]))];
    for (mode, expected) in fixed {
        fs::write(&path, &broken).unwrap();
        let diff = curtail(folder.path(), &["check", "--diff", &format!("--fix={mode}"), "chat.jsonl"]);
        assert_eq!(diff.status.code(), Some(1));
        assert!(diff.stdout.starts_with(b"--- chat.jsonl\n+++ chat.jsonl\n@@ "), "{diff:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), broken, "--diff writes nothing");
        let output = curtail(folder.path(), &["check", &format!("--fix={mode}"), "chat.jsonl"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), expected, "{mode}");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("1 repaired"), "{output:?}");
        let again = curtail(folder.path(), &["check", "--diff", &format!("--fix={mode}"), "chat.jsonl"]);
        assert_eq!((again.status.code(), again.stdout.len()), (Some(0), 0), "{again:?}");
    }
    fs::write(&path, lines(&[ASK, CALL, ASK, SAY, "{"])).unwrap();
    let torn = curtail(folder.path(), &["check", "--fix", "chat.jsonl"]);
    assert_eq!(torn.status.code(), Some(1), "{torn:?}");
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        lines(&[ASK, CALL, ASK, SAY, "{"]),
        "what cannot be read is not written"
    );
}

#[test]
fn the_diff_is_what_a_patch_takes() {
    let folder = tempfile::tempdir().unwrap();
    let broken: String = [lines(&[ASK, CALL, ASK]), lines(&[RESULT, SAY, ASK, CALL, ASK, SAY])].concat();
    fs::write(folder.path().join("chat.jsonl"), &broken).unwrap();
    fs::write(folder.path().join("copy.jsonl"), &broken).unwrap();
    let diff = curtail(folder.path(), &["check", "--diff", "--fix=stub", "chat.jsonl"]);
    curtail(folder.path(), &["check", "--fix=stub", "chat.jsonl"]);
    let patch = Command::new("patch").current_dir(folder.path()).arg("copy.jsonl").write_stdin(diff.stdout).output();
    // Not every machine has `patch`; where there is one, it must agree.
    if let Ok(patched) = patch {
        assert!(patched.status.success(), "{patched:?}");
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("copy.jsonl"), read("chat.jsonl"));
    }
}

#[test]
fn copies_are_found_across_files() {
    let record = |id: usize, sky: &str| {
        format!("{{\"id\":{id},\"messages\":[{ASK}, {{\"role\":\"assistant\",\"content\":\"{sky}\"}}]}}\n")
    };
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.jsonl"), record(1, "rain") + &record(2, "sun")).unwrap();
    fs::write(folder.path().join("b.jsonl"), record(3, "rain").replace(", {", ",{") + &record(4, "snow")).unwrap();
    let quiet = curtail(folder.path(), &["check", "a.jsonl", "b.jsonl"]);
    assert_eq!(quiet.status.code(), Some(0));
    let output = curtail(
        folder.path(),
        &["check", "-D", "duplicate-transcript", "--output-format", "json", "a.jsonl", "b.jsonl"],
    );
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["findings"].as_array().unwrap().len(), 1);
    assert_eq!(report["findings"][0]["message"], "the transcript has the same messages as a.jsonl:1");
    assert_eq!(output.status.code(), Some(1));
    let beside = format!("[{}, {}]\n", record(1, "rain").trim_end(), record(2, "rain").trim_end());
    fs::write(folder.path().join("list.json"), beside).unwrap();
    let output = curtail(folder.path(), &["check", "-D", "duplicate-transcript", "list.json"]);
    assert_eq!(output.status.code(), Some(1), "two of one line: {}", String::from_utf8_lossy(&output.stdout));
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
fn findings_can_be_counted_and_cut_short() {
    let text = lines(&[ASK, RESULT, RESULT, RESULT, SAY]);
    let report = json(&["--max-findings", "1"], &text);
    assert_eq!(report["findings"].as_array().unwrap().len(), 1);
    assert_eq!((report["summary"]["denied"].as_u64(), report["summary"]["not_told"].as_u64()), (Some(3), Some(2)));
    let (code, out, _) = check(&["--statistics"], &text);
    assert_eq!((code, out.as_str()), (1, "P001 orphan-result      3 denied\n3 errors in 1 transcript of 1 file\n"));
}

#[test]
fn github_commands_are_escaped() {
    let name = "50%,a:b.jsonl";
    let (_, out, _) = check(&["--output-format", "github", "--stdin-filename", name], &lines(&[ASK, RESULT, SAY]));
    assert!(out.starts_with("::error file=50%25%2Ca%3Ab.jsonl,line=2,col=1,title=P001 orphan-result::"), "{out}");
    assert_eq!(out.lines().count(), 1, "{out}");
}

/// What cannot be read fails the check, so the report of a CI says file, line and reason as well.
#[test]
fn every_report_for_programs_says_what_was_not_checked() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.jsonl"), "{\"messages\":[]}\n{\"note\":\"50 %\"}\n").unwrap();
    let report = |format: &str| {
        let output = curtail(folder.path(), &["check", "--output-format", format, "a.jsonl", "missing.jsonl"]);
        assert_eq!(output.status.code(), Some(2), "{format}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("a.jsonl:2:1: no list of messages"), "{format}");
        String::from_utf8(output.stdout).unwrap()
    };
    // What cannot be found is reported first.
    let places = [("missing.jsonl", 1, "no such file"), ("a.jsonl", 2, "no list of messages")];

    let out = report("github");
    assert!(out.contains("\n::error file=a.jsonl,line=2,col=1,title=not-checked::no list of messages"), "{out}");
    assert!(out.contains("::error file=missing.jsonl,title=not-checked::no such file"), "{out}");

    let parsed = |format: &str| serde_json::from_str::<Value>(&report(format)).unwrap();
    let errors = parsed("json")["errors"].as_array().unwrap().clone();
    let issues: Vec<Value> = parsed("gitlab").as_array().unwrap().clone();
    let issues: Vec<Value> = issues.into_iter().filter(|issue| issue["check_name"] == "not-checked").collect();
    let log = parsed("sarif");
    assert_sarif(&log);
    let results = log["runs"][0]["results"].as_array().unwrap().clone();
    let results: Vec<Value> = results.into_iter().filter(|result| result["ruleId"] == "not-checked").collect();
    let suites = report("junit");
    for (nth, (file, line, reason)) in places.into_iter().enumerate() {
        let said = |text: &Value| text.as_str().is_some_and(|text| text.contains(reason));
        let error = &errors[nth];
        assert!(error["file"] == file && said(&error["message"]), "{errors:?}");
        let issue = &issues[nth];
        assert!(issue["location"] == json!({"path": file, "lines": {"begin": line}}), "{issue}");
        assert!(issue["severity"] == "critical" && said(&issue["description"]), "{issue}");
        let result = &results[nth];
        let place = &result["locations"][0]["physicalLocation"];
        assert!(place["artifactLocation"]["uri"] == file && place["region"]["startLine"] == line, "{result}");
        assert!(result["level"] == "error" && said(&result["message"]["text"]), "{result}");
        let (_, suite) = suites.split_once(&format!("<testsuite name=\"{file}\" ")).unwrap();
        let (suite, _) = suite.split_once("</testsuite>").unwrap();
        assert!(suite.contains("errors=\"1\"") && suite.contains("<error message=\""), "{suites}");
        assert!(suite.contains(reason) && suite.contains("type=\"not-checked\""), "{suites}");
    }
    assert_eq!((errors.len(), issues.len(), results.len()), (2, 2, 2));
    assert_eq!((errors[0].get("line"), errors[1]["line"].as_u64()), (None, Some(2)));
    assert!(suites.contains("<testsuites name=\"curtail\"") && suites.matches("errors=\"2\"").count() == 1, "{suites}");
}

#[test]
fn junit_has_a_test_for_every_finding() {
    let (_, out, _) =
        check(&["--output-format", "junit"], &lines(&[ASK, RESULT, SAY, &CALL.replace("call_1", "call_2")]));
    assert!(out.contains("<testsuites name=\"curtail\" tests=\"2\" skipped=\"0\" failures=\"1\""), "{out}");
    assert!(
        out.contains("<failure message=\"the result of `call_1` answers no earlier call\" type=\"P001\">"),
        "{out}"
    );
}

/// XML 1.0 allows neither control characters nor their escapes; markup is escaped, and the counts agree with the cases.
#[test]
fn junit_is_well_formed() {
    let odd = RESULT.replace("call_1", "<a>&\\u0001\\\"'\\u001b\\uffff");
    let (_, out, _) =
        check(&["--output-format", "junit", "--stdin-filename", "a&b.jsonl"], &lines(&[ASK, &odd, SAY, CALL]));
    assert!(
        out.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites ") && out.ends_with("</testsuites>\n"),
        "{out}"
    );
    assert!(
        out.contains("<testsuite name=\"a&amp;b.jsonl\" tests=\"2\" skipped=\"0\" failures=\"1\" errors=\"0\">"),
        "{out}"
    );
    assert!(out.contains("&lt;a&gt;&amp;⟨U+0001⟩&quot;&apos;⟨U+001B⟩`") && !out.contains("<a>"), "{out}");
    assert!(out.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{ffff}'), "{out}");
    let count = |words: &str| out.matches(words).count();
    assert_eq!(
        (count("<testcase "), count("</testcase>"), count("<failure "), count("</failure>")),
        (2, 2, 1, 1),
        "{out}"
    );
    assert_eq!((count("<system-out>warning: "), count("</system-out>")), (1, 1), "{out}");
    let (_, clean, _) = check(&["--output-format", "junit"], &lines(&[ASK, SAY]));
    assert!(clean.contains("tests=\"1\"") && clean.contains("<testcase name=\"check\"/>"), "{clean}");
    // A file whose findings are only counted has not passed.
    let (_, counted, _) = check(&["--output-format", "junit", "--statistics"], &lines(&[ASK, RESULT, SAY]));
    assert!(counted.contains("skipped=\"1\" failures=\"0\"") && counted.contains("<skipped message="), "{counted}");
}

/// A character can be two columns wide, and one that a terminal would obey is shown by its code.
#[test]
fn carets_are_below_what_they_mark() {
    use unicode_width::UnicodeWidthStr as _;

    let ask = ASK.replace("in Oslo", "\u{4e0a}\u{6d77}\u{202e}\u{2764}\u{fe0f}");
    let (_, out, _) = check(&[], &format!("{{\"messages\":[{ask},{RESULT}]}}\n"));
    let shown: Vec<&str> = out.lines().skip_while(|line| !line.contains("answers no earlier call")).collect();
    let marked = shown[3].find(&RESULT[..10]).unwrap_or_else(|| panic!("{out}"));
    assert_eq!(shown[3][..marked].width(), shown[4].find('^').unwrap(), "{out}");
}

/// A format needs no second list: its name is in the help of the flag and on the page of the command.
#[test]
fn every_format_is_offered_and_documented() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/commands/check.md")).unwrap();
    let (_, help, _) = check(&["--help"], "");
    for format in curtail::reports::FORMATS {
        assert!(help.contains(format.name) && help.contains(format.summary), "{}: {help}", format.name);
        assert!(
            page.contains(&format!("`{}`", format.name))
                || page.contains(&format!("`--output-format {}`", format.name)),
            "{}",
            format.name
        );
        assert_eq!(check(&["--output-format", format.name], &lines(&[ASK, SAY])).0, 0, "{}", format.name);
    }
}

/// Asserts that a log is valid, and that every result names its rule.
fn assert_sarif(log: &Value) {
    let schema = sarif_schema();
    let errors: Vec<String> =
        schema.iter_errors(log).map(|error| format!("{error} at {}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    for result in log["runs"][0]["results"].as_array().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
    }
}

fn sarif_schema() -> jsonschema::Validator {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sarif/sarif-schema-2.1.0.json");
    let mut schema: Value = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    // The published pattern of `language`, which we do not write, is no regular expression: it closes a bracket twice.
    for holder in ["run", "toolComponent"] {
        schema["definitions"][holder]["properties"]["language"].as_object_mut().unwrap().remove("pattern");
    }
    jsonschema::validator_for(&schema).unwrap()
}

#[test]
fn sarif_is_valid() {
    let texts = [lines(&[ASK, RESULT, CALL, ASK, RESULT, SAY, CALL]), lines(&[ASK, SAY]), String::from("{\"role\":\n")];
    for text in texts {
        let (_, out, err) = check(&["--output-format", "sarif", "--stdin-filename", "a b/chat.jsonl"], &text);
        assert_sarif(&serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}")));
    }
    let broken = json!({"version": "2.1.0", "runs": [{"tool": {}}]});
    assert!(!sarif_schema().is_valid(&broken), "the schema tells wrong from right");
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

#[test]
fn what_the_provider_runs_needs_no_signature() {
    let signed = lines(&[
        r#"{"role":"user","parts":[{"text":"Roll."}]}"#,
        r#"{"role":"model","parts":[{"functionCall":{"name":"roll","args":{}},"thoughtSignature":"c2ln"}]}"#,
        r#"{"role":"user","parts":[{"functionResponse":{"name":"roll","response":{"eyes":4}}}]}"#,
        r#"{"role":"model","parts":[{"executableCode":{"language":"PYTHON","code":"2*4"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"8"}},{"text":"8"}]}"#,
    ]);
    assert!(reported(&json(&[], &signed)).is_empty());
}

#[test]
fn a_call_that_no_tool_could_have_taken_gets_no_stub() {
    let folder = tempfile::tempdir().unwrap();
    let torn = CALL.replace(r#""arguments":"{}""#, r#""arguments":"{\"city\":""#);
    let both = CALL
        .replace("]}", &format!(",{}]}}", &torn[torn.find("{\"id\"").unwrap()..torn.len() - 2]))
        .replacen("call_1", "call_0", 1);
    fs::write(folder.path().join("a.jsonl"), lines(&[ASK, &both, ASK, SAY])).unwrap();
    let done = curtail(folder.path(), &["check", "--fix=stub", "a.jsonl"]);
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stdout));
    let text = fs::read_to_string(folder.path().join("a.jsonl")).unwrap();
    assert!(text.contains(r#""tool_call_id":"call_0""#) && !text.contains("call_1"), "{text}");
}

#[test]
fn a_filter_leaves_no_pending_call_behind_a_round_that_is_over() {
    let record = |id: &str, parent: &str, reply: &str, block: &str| {
        format!(
            r#"{{"parentUuid":"{parent}","isSidechain":false,"sessionId":"s","type":"assistant","message":{{"id":"{reply}","role":"assistant","content":[{block}]}},"uuid":"{id}"}}"#
        )
    };
    let question = r#"{"parentUuid":null,"isSidechain":false,"sessionId":"s","type":"user","message":{"role":"user","content":"Is it raining?"},"uuid":"u"}"#;
    let pending_call = record("a", "u", "m1", r#"{"type":"tool_use","id":"t1","name":"weather","input":{}}"#);
    let text_line = record("b", "a", "m2", r#"{"type":"text","text":"I look."}"#);
    let second_call = record("c", "b", "m2", r#"{"type":"tool_use","id":"t2","name":"look","input":{}}"#);
    let folder = tempfile::tempdir().unwrap();
    let filtered = |tool: &str| {
        fs::write(folder.path().join("a.jsonl"), lines(&[question, &pending_call, &text_line, &second_call])).unwrap();
        String::from_utf8(curtail(folder.path(), &["filter", "-x", tool, "a.jsonl"]).stdout).unwrap()
    };
    assert_eq!(
        filtered("look"),
        lines(&[question, &text_line.replace("\"parentUuid\":\"a\"", "\"parentUuid\":\"u\"")])
    );
    assert_eq!(filtered("other"), lines(&[question, &pending_call, &text_line, &second_call]));
}

/// Anthropic accepts an empty answer at the end, and no blank block anywhere.
#[test]
fn a_blank_block_at_the_end_is_refused() {
    for (content, level) in [(r#""""#, "warn"), ("[]", "warn"), (r#"[{"type":"text","text":" "}]"#, "deny")] {
        let empty = format!(r#"{{"role":"assistant","content":{content}}}"#);
        let report = json(&["--profile", "anthropic"], &lines(&[ASK, &empty]));
        assert_eq!(reported(&report), [format!("empty-content {level} 2:1")], "{content}");
    }
}

/// A provider reads nothing before a compaction, so that a conversation may begin with one of the model.
#[test]
fn a_conversation_may_begin_with_a_compaction() {
    let compacted = r#"{"role":"assistant","content":[{"type":"compaction","content":"It was raining in Oslo."}]}"#;
    assert_eq!(reported(&json(&[], &lines(&[compacted, ASK, SAY]))), Vec::<String>::new());
}

#[test]
fn an_item_with_question_and_answer_is_an_answer() {
    // A turn of an evaluation holds the question, the calls that answer it, and the last words, if there are any.
    let call = r#"{"user_content":{"role":"user","parts":[{"text":"Is it raining?"}]},"intermediate_data":{"tool_uses":[{"name":"weather","args":{}}]}}"#;
    for items in [&[call][..], &[ASK, CALL, RESULT]] {
        let report = json(&["-A", "all", "-W", "no-assistant-message"], &lines(items));
        assert_eq!(reported(&report), Vec::<String>::new(), "{items:?}");
    }
    let report = json(&["-A", "all", "-W", "no-assistant-message"], &lines(&[ASK]));
    assert_eq!(reported(&report).len(), 1);
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
    let done = std::process::Command::new("bash").args(["-c", &line]).current_dir(folder.path()).output().unwrap();
    let report = fs::read_to_string(folder.path().join("report")).unwrap();
    let last = report.lines().last().map(str::to_owned);
    assert_eq!(done.status.code(), Some(1), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(last.as_deref(), Some("100,000 errors in 2,000 transcripts of 1 file"));
    assert_eq!(report.matches("error[").count(), 100_000);
}

/// A message of the system without content sets the effort from there on: it is preserved, and nothing is missing in it.
#[test]
fn a_message_that_sets_the_effort_is_not_empty() {
    let effort = "{\"role\":\"system\",\"content\":[],\"output_config\":{\"effort\":\"low\"}}\n";
    let chat = lines(&[ASK, SAY]);
    let place = Place::new();
    place.write("chat.jsonl", format!("{chat}{effort}{chat}").as_bytes());
    let named = ["--dialect", "anthropic", "chat.jsonl"];
    let checked = place.curtail(&[&["check"][..], &named].concat()).output().unwrap();
    assert!(!text(&checked.stdout).contains("S004"), "{}", text(&checked.stdout));
    let cut = place.curtail(&[&["window", "-n", "1"][..], &named].concat()).output().unwrap();
    assert!(text(&cut.stdout).starts_with(effort), "{}", text(&cut.stdout));
}
