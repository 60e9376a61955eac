//! The report of a check in every format, and its places.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{ASK, CALL, RESULT, SAY, check, curtail, lines};

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
fn findings_can_be_counted_and_cut_short() {
    let text = lines(&[ASK, RESULT, RESULT, RESULT, SAY]);
    let report = super::json(&["--max-findings", "1"], &text);
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

/// Services that show findings beside a file know it by its path in the repository.
#[test]
fn paths_in_the_working_directory_are_relative_in_reports_for_services() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("a.jsonl");
    fs::write(&path, lines(&[ASK, RESULT, SAY]) + "{\n").unwrap();
    for (format, place) in
        [("github", "file=a.jsonl,"), ("gitlab", "\"path\": \"a.jsonl\""), ("sarif", "\"uri\": \"a.jsonl\"")]
    {
        for name in ["./a.jsonl", path.to_str().unwrap()] {
            let report = curtail(folder.path(), &["check", "--output-format", format, name, "missing.jsonl"]).stdout;
            let report = String::from_utf8(report).unwrap();
            assert!(report.contains(place) && !report.contains(name), "{format} {name}: {report}");
        }
    }
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
    assert_eq!(count("<testcase classname=\"a&amp;b.jsonl\" name=\""), 2, "{out}");
    assert_eq!(
        (count("<testcase "), count("</testcase>"), count("<failure "), count("</failure>")),
        (2, 2, 1, 1),
        "{out}"
    );
    assert_eq!((count("<system-out>warning: "), count("</system-out>")), (1, 1), "{out}");
    let (_, clean, _) = check(&["--output-format", "junit"], &lines(&[ASK, SAY]));
    assert!(
        clean.contains("tests=\"1\"") && clean.contains("<testcase classname=\"stdin\" name=\"check\"/>"),
        "{clean}"
    );
    // A file whose findings are only counted has not passed.
    let (_, counted, _) = check(&["--output-format", "junit", "--max-findings", "0"], &lines(&[ASK, RESULT, SAY]));
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
