//! Transcripts of which nothing, or not everything, is read: no command passes them on in silence.

use std::fs;

use crate::program::{Place, root, run, text};

/// A log of Claude Code, which no other dialect reads.
fn log() -> String {
    fs::read_to_string(root().join("fixtures/dialects/claude-code/minimal.jsonl")).unwrap()
}

fn foreign(name: &str) -> String {
    fs::read_to_string(root().join("fixtures/foreign").join(name)).unwrap()
}

/// Every command that reads transcripts, other than `check`.
const COMMANDS: &[&[&str]] = &[
    &["window", "-n", "3"],
    &["filter", "--strip", "media"],
    &["limit", "-t", "50"],
    &["summarize", "-n", "3"],
    &["summarize", "-n", "3", "--handoff"],
    &["summarize", "-n", "3", "--dry-run"],
    &["memory", "recall"],
    &["memory", "apply"],
    &["run", "--config", "chain.toml"],
    &["split", "-t", "500"],
    &["repair"],
    &["count"],
    &["show"],
    &["show", "--message", "0"],
    &["view"],
    &["replay"],
];

fn place() -> Place {
    let place = Place::new();
    place.write("chain.toml", b"[[history.processors]]\ntype = \"window\"\nsize = 3\n");
    place
}

#[test]
fn a_dialect_that_reads_no_message_is_an_error_in_every_command() {
    let place = place();
    place.write("log.jsonl", log().as_bytes());
    for command in COMMANDS {
        let done = place.curtail(&[command, &["--dialect", "openai", "log.jsonl"][..]].concat()).output().unwrap();
        let stderr = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{command:?}: {stderr}");
        assert!(stderr.contains("log.jsonl:1:1: no message was read"), "{command:?}: {stderr}");
        assert!(!text(&done.stdout).contains("\"uuid\""), "{command:?} passed the log on");
    }
    let checked = place.curtail(&["check", "--dialect", "openai", "log.jsonl"]).output().unwrap();
    assert_eq!(checked.status.code(), Some(1));
    assert!(text(&checked.stdout).contains("nothing-read"), "{}", text(&checked.stdout));
}

#[test]
fn an_empty_input_and_an_empty_record_stay_what_they_are() {
    for input in ["", "{\"messages\":[]}\n"] {
        for command in [&["window", "-n", "3"][..], &["limit", "-t", "50"], &["repair"], &["summarize", "-n", "3"]] {
            let done = run(&[command, &["--dialect", "openai"]].concat(), input);
            assert_eq!((done.status.code(), text(&done.stdout).as_str()), (Some(0), input), "{command:?}");
        }
    }
}

/// A dialect that finds roles but not the content reads messages with nothing in them: their text counts, as an estimate.
#[test]
fn content_under_the_key_of_another_dialect_is_estimated_and_said() {
    let long = "High water is at 05:12, and the ferry leaves an hour later. ".repeat(40);
    let ui = format!(r#"{{"role":"user","parts":[{{"type":"text","text":"{long}"}}]}}"#);
    let human = format!(r#"{{"from":"human","value":"{long}"}}"#);
    for (item, dialect) in [(&ui, "openai"), (&ui, "anthropic"), (&ui, "bedrock"), (&human, "cursor")] {
        let input = format!("{item}\n{item}\n{item}\n");
        let done = run(&["limit", "-t", "50", "--on-overflow", "empty", "--dialect", dialect], &input);
        assert!(done.stdout.len() < input.len(), "{dialect}: passed on whole: {}", text(&done.stderr));
        let known = text(&done.stderr).contains("100 % of the text has an unknown type");
        assert!(known || text(&done.stderr).contains("no message was read"), "{dialect}: {}", text(&done.stderr));
        let checked = run(&["check", "--dialect", dialect], &input);
        let rules = text(&checked.stdout);
        assert!(rules.contains("unread-content") || rules.contains("nothing-read"), "{dialect}: {rules}");
    }
}

/// An item with a role or type that the dialect does not define may be read by a model: in a log, if it names a role or author.
#[test]
fn items_of_unknown_role_count_as_an_estimate() {
    let long = "High water is at 05:12, and the ferry leaves an hour later. ".repeat(40);
    let event = |kind: &str| {
        format!(
            r#"{{"type":"{kind}","uuid":"u2","parentUuid":"u1","sessionId":"s","message":{{"role":"tool","content":"{long}"}}}}"#
        )
    };
    let inputs = [
        format!("{{\"role\":\"user\",\"content\":\"Ferry?\"}}\n{{\"role\":\"narrator\",\"content\":\"{long}\"}}\n"),
        format!("{{\"role\":\"narrator\",\"content\":\"{long}\"}}\n{{\"role\":\"user\",\"content\":\"Ferry?\"}}\n"),
        format!("{{\"from\":\"human\",\"value\":\"Ferry?\"}}\n{{\"from\":\"narrator\",\"value\":\"{long}\"}}\n"),
        format!(
            "{{\"role\":\"user\",\"parts\":[{{\"text\":\"Ferry?\"}}]}}\n{{\"role\":\"critic\",\"parts\":[{{\"text\":\"{long}\"}}]}}\n"
        ),
        format!("{}\n{}\n", log().trim_end(), event("tool_message")),
        format!(
            "{{\"type\":\"response_item\",\"payload\":{{\"type\":\"message\",\"role\":\"user\",\"content\":[{{\"type\":\"input_text\",\"text\":\"Ferry?\"}}]}}}}\n\
             {{\"type\":\"response_item\",\"payload\":{{\"type\":\"forecast\",\"text\":\"{long}\"}}}}\n"
        ),
    ];
    for input in inputs {
        let counted: serde_json::Value =
            serde_json::from_slice(&run(&["count", "--output-format", "json"], &input).stdout).unwrap();
        assert!(counted["tokens"].as_u64() > Some(500), "{counted}: {input:.200}");
        let note = text(&run(&["window", "-n", "9"], &input).stderr);
        assert!(note.contains("of the text has an unknown type"), "{note}: {input:.200}");
        let checked = text(&run(&["check"], &input).stdout);
        assert!(checked.contains("unread-content") || checked.contains("unknown-role"), "{checked}: {input:.200}");
    }
    // Events of a new version are no messages.
    let input = format!(
        "{}\n{{\"type\":\"telemetry\",\"uuid\":\"u2\",\"sessionId\":\"s\",\"content\":\"{long}\"}}\n",
        log().trim_end()
    );
    assert!(!text(&run(&["window", "-n", "9"], &input).stderr).contains("unknown type"));
}

/// In a file of records, each is read by itself: one that is empty or right is written, one without a message fails.
#[test]
fn a_record_without_a_message_of_the_dialect_fails_alone() {
    let good = "{\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}\n";
    let other = "{\"messages\":[{\"from\":\"human\",\"value\":\"Hello\"}]}\n";
    let input = [good, "{\"messages\":[]}\n", other].concat();
    let done = run(&["window", "-n", "3", "--dialect", "openai", "--on-error", "skip"], &input);
    assert_eq!(text(&done.stdout), [good, "{\"messages\":[]}\n"].concat());
    assert!(text(&done.stderr).contains("3:14: no message was read"), "{}", text(&done.stderr));
    assert_eq!(run(&["window", "-n", "3", "--dialect", "openai"], &input).status.code(), Some(2));
}

/// A log that has just begun has a header and no message yet: whoever names its dialect is right.
#[test]
fn a_log_with_nothing_but_its_header_is_no_error() {
    let header = log().lines().next().unwrap().to_owned() + "\n";
    let done = run(&["window", "-n", "3", "--dialect", "claude-code"], &header);
    assert_eq!((done.status.code(), text(&done.stdout)), (Some(0), header));
}

/// A format that is known by sight, and that no dialect reads, is named instead of misread.
#[test]
fn formats_that_cannot_be_read_are_refused_by_name() {
    for (name, format) in [("iflow.jsonl", "iFlow"), ("gptme.jsonl", "gptme")] {
        for command in [&["check"][..], &["count"], &["window", "-n", "3"], &["limit", "-t", "20"]] {
            let done = run(command, &foreign(name));
            let stderr = text(&done.stderr);
            assert_eq!(done.status.code(), Some(2), "{name}: {command:?}: {stderr}");
            assert!(stderr.contains(&format!("this is written as {format}, which curtail does not read")), "{stderr}");
            assert!(!text(&done.stdout).contains("missing-id"), "{name}");
        }
    }
}

/// Local times and metadata alone are no sign of gptme.
#[test]
fn a_chat_with_metadata_of_its_own_is_read() {
    let chat = concat!(
        "{\"role\":\"user\",\"content\":\"Hi\",\"metadata\":{\"model\":\"m\"}}\n",
        "{\"role\":\"tool\",\"content\":\"r\",\"timestamp\":\"2026-06-13T10:00:00.123456\"}\n",
    );
    let done = run(&["count"], chat);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
}

/// The same for graphs and rows of texts, without messages: the error tells what to do, for a document on many lines as
/// well.
#[test]
fn formats_without_messages_are_refused_with_what_to_do() {
    let texts = r#"{"prompt":"High water?","chosen":"At 05:12.","rejected":"No idea."}"#;
    let alpaca = r#"{"instruction":"High water?","input":"","output":"At 05:12.","kto_tag":true}"#;
    let graph =
        r#"{"version":1,"id":"t","nodes":[{"parent":null,"message":{"role":"user","content":"Hello"}}],"calls":[]}"#;
    for (input, format, advice) in [
        (graph, "a trace graph of verifiers", "each path from the root"),
        (texts, "a row of plain texts to train on", "as a list of messages"),
        (alpaca, "a row of plain texts to train on", "as a list of messages"),
    ] {
        let wide = serde_json::from_str(input).map(|value: serde_json::Value| format!("{value:#}"));
        for input in [Some(input.to_owned()), wide.ok()].into_iter().flatten() {
            for command in [&["check"][..], &["show"], &["count"], &["window", "-n", "3"]] {
                let done = run(command, &input);
                let printed = [text(&done.stdout), text(&done.stderr)].concat();
                assert_ne!(done.status.code(), Some(0), "{command:?}: {printed}");
                assert!(
                    printed.contains(&format!("this is written as {format}, which")) && printed.contains(advice),
                    "{printed}"
                );
            }
        }
    }
}

/// The fixtures of the formats that are only read.
fn only_read() -> [(&'static str, String); 3] {
    let fixture = |name: &str| std::fs::read_to_string(root().join("fixtures/dialects").join(name)).unwrap();
    [
        ("vscode-copilot", fixture("vscode-copilot/chat.json")),
        ("vscode-copilot", fixture("vscode-copilot/patches.jsonl")),
        ("zed", fixture("zed/thread.json")),
    ]
}

/// Chats of editors are looked at, counted and checked, and no command writes them: each error tells what to do instead.
#[test]
fn chats_of_editors_are_read_and_never_written() {
    for (dialect, input) in only_read() {
        for command in [&["show"][..], &["count"], &["check"], &["view", "--text"], &["show", "--message", "0"]] {
            let done = run(command, &input);
            assert_eq!(done.status.code(), Some(0), "{dialect}: {command:?}: {}", text(&done.stderr));
            assert!(!done.stdout.is_empty(), "{dialect}: {command:?}");
        }
        for command in [
            &["window", "-n", "1"][..],
            &["window", "-n", "100"],
            &["limit", "-t", "20"],
            &["filter", "--drop", "0"],
            &["repair"],
            &["split", "-t", "100"],
            &["summarize", "-n", "1"],
            &["summarize", "--handoff"],
            &["memory", "apply"],
        ] {
            let done = run(command, &input);
            let stderr = text(&done.stderr);
            assert_eq!((done.status.code(), done.stdout.len()), (Some(2), 0), "{dialect}: {command:?}: {stderr}");
            assert!(
                stderr.contains(&format!("stdin:1:1: `{dialect}` is read-only (`view`, `show`")),
                "{command:?}: {stderr}"
            );
        }
    }
}

/// Files stay as they are, and others beside them are cut.
#[test]
fn chats_of_editors_stay_as_they_are_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let chat = "{\"role\":\"user\",\"content\":\"Hello\"}\n{\"role\":\"assistant\",\"content\":\"Hi\"}\n";
    let mut files: Vec<(String, String)> =
        only_read().into_iter().enumerate().map(|(nth, (_, text))| (format!("{nth}.jsonl"), text)).collect();
    files.push((String::from("chat.jsonl"), chat.to_owned()));
    for (name, text) in &files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    for command in [&["filter", "--drop", "0", "-i", "."][..], &["check", "--fix", "."], &["check", "--diff", "."]] {
        let done = crate::program::command(folder.path(), command).output().unwrap();
        let stderr = text(&done.stderr);
        assert_eq!((done.status.code(), stderr.matches("is read-only").count()), (Some(2), 3), "{command:?}: {stderr}");
        for (name, before) in files.iter().filter(|(name, _)| name != "chat.jsonl") {
            assert_eq!(std::fs::read_to_string(folder.path().join(name)).unwrap(), *before, "{name}");
        }
    }
    assert!(std::fs::read_to_string(folder.path().join("chat.jsonl")).unwrap().lines().count() == 1);
}

/// A log of patches is refused at the line that cannot be applied, and looked at without it; a finding in what the patches make names its place there.
#[test]
fn a_log_of_patches_names_the_line_that_is_wrong() {
    let (_, log) = &only_read()[1];
    let broken = format!("{log}{{\"kind\":1,\"k\":[\"requests\",7,\"v\"],\"v\":1}}\n");
    for (command, status) in [("check", 2), ("show", 0)] {
        let done = run(&[command], &broken);
        let stderr = text(&done.stderr);
        assert_eq!(done.status.code(), Some(status), "{command}: {stderr}");
        assert!(stderr.contains("stdin:9:1: this patch changes a path"), "{command}: {stderr}");
    }
    let open = log.replace("\"isComplete\":true", "\"isComplete\":false");
    let report: serde_json::Value =
        serde_json::from_slice(&run(&["check", "--output-format", "json"], &open).stdout).unwrap();
    let at = &report["findings"][0]["at"];
    assert_eq!((at["line"].as_u64(), at["column"].as_u64()), (Some(1), Some(1)), "{report}");
    assert_eq!(at["pointer"], "/requests/0/response/1");
}

/// What is wrong in an export is where its value is in the file.
#[test]
fn a_row_of_an_export_is_named_with_its_line() {
    let row = |messages: &str| serde_json::json!({ "messages": messages }).to_string();
    let sound = row(r#"[{"role":"user","content":"Lit?"}]"#);
    let open = row(r#"[{"role":"tool","tool_call_id":"c1","content":"lit"}]"#);
    let done = run(&["check"], &format!("{sound}\n{sound}\n{{\"note\":\"none\"}}\n{sound}\n"));
    let stderr = text(&done.stderr);
    assert!(
        stderr.contains("stdin:3:1: no list of messages") && stderr.contains("(in what the export contains)"),
        "{stderr}"
    );
    let report = run(&["check", "--output-format", "github"], &format!("{sound}\n\n{open}\n"));
    assert!(text(&report.stdout).contains("line=3,col=1,title=P001"), "{}", text(&report.stdout));
    assert!(text(&run(&["show"], &format!("{sound}\n{sound}\n")).stdout).contains("\n   0     2  "));
    let refused = text(&run(&["window", "-n", "1"], &format!("[{sound}]")).stderr);
    assert!(refused.contains("stdin:1:1: this is a row") && !refused.contains("what the export contains"), "{refused}");
    let stored = |message: &str| serde_json::json!({"session_id": "a", "message_data": message}).to_string();
    let said = stored(r#"{"role":"user","content":"Lit?"}"#);
    let done = run(&["count"], &format!("{said}\n{}\n{said}\n", stored(r#"{"role":"assistant","#)));
    assert!(
        text(&done.stderr).contains("stdin:2:1: the message in this row is not whole JSON"),
        "{}",
        text(&done.stderr)
    );
    assert!(text(&done.stdout).contains("stdin            1      2         2"), "{}", text(&done.stdout));
}

/// What the server stored comes before the items of a request that continues it.
#[test]
fn a_cut_before_stored_items_says_so() {
    let item = |text: &str| {
        format!(
            "{{\"type\":\"message\",\"role\":\"user\",\"content\":[{{\"type\":\"input_text\",\"text\":\"{text}\"}}]}}"
        )
    };
    let input = format!("{{\"previous_response_id\":\"resp_1\",\"input\":[{},{}]}}\n", item("one"), item("two"));
    let done = run(&["filter", "--drop", "0"], &input);
    assert!(text(&done.stderr).contains("previous_response_id"), "{}", text(&done.stderr));
    assert!(!text(&run(&["window", "-n", "9"], &input).stderr).contains("previous_response_id"));
}

/// Formats that were misread once, each in the dialect that reads it now, without a false finding.
#[test]
fn formats_that_look_like_others_are_read_as_what_they_are() {
    for (name, dialect) in
        [("goose.jsonl", "goose"), ("opencode-2.json", "opencode"), ("gemini-interactions.json", "gemini-interactions")]
    {
        let shown = text(&run(&["show"], &foreign(name)).stdout);
        assert!(shown.contains(&format!("dialect {dialect}")), "{shown}");
        let checked = run(&["check"], &foreign(name));
        assert_eq!(checked.status.code(), Some(0), "{name}: {}", text(&checked.stdout));
    }
}

/// Goose's blocks as parts of unknown type, without its header, which is no message.
fn blocks() -> String {
    foreign("goose.jsonl").split_inclusive('\n').skip(1).collect()
}

#[test]
fn unknown_parts_are_counted_as_an_estimate() {
    let count = |more: &[&str]| {
        let done = run(&[&["count", "--dialect", "anthropic"], more].concat(), &blocks());
        text(&done.stdout)
    };
    let json: serde_json::Value = serde_json::from_str(&count(&["--output-format", "json"])).unwrap();
    let figure = |key: &str| json[key].as_u64().unwrap();
    assert!(figure("estimated") > 100 && figure("tokens") > figure("estimated"), "{json}");
    assert_eq!(json["rows"][0]["estimated"], json["estimated"]);
    let table = count(&["--by", "message"]);
    assert!(table.contains(&format!("~{}", figure("tokens"))), "{table}");
    let done = run(&["limit", "-t", "60", "--dialect", "anthropic"], &blocks());
    assert!(done.stdout.len() < blocks().len() && !text(&done.stdout).contains("toolResponse"));
}

/// What is estimated in a result is in the row that has its tokens.
#[test]
fn estimated_tokens_of_a_result_are_those_of_its_tool() {
    let chat = r#"{"role":"user","content":"Look."}
{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"look","input":{}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","note":"High water is at 05:12, and the ferry leaves an hour later.","content":"Calm."},{"type":"text","text":"And now?"}]}
{"role":"assistant","content":"Calm."}
"#;
    for (by, name) in [("role", "tool"), ("tool", "look")] {
        let done = run(&["count", "--dialect", "anthropic", "--by", by, "--output-format", "json"], chat);
        let json: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        let rows = json["rows"].as_array().unwrap();
        for row in rows {
            let estimated = if row[by] == name { &json["estimated"] } else { &serde_json::Value::from(0) };
            assert_eq!(&row["estimated"], estimated, "{row}");
        }
        assert!(json["estimated"].as_u64().unwrap() > 10 && rows.iter().any(|row| row[by] == name), "{json}");
    }
}

/// A refusal, a search result and a guarded text are known: they count as text, and are no finding.
#[test]
fn known_parts_under_rare_keys_count_as_text() {
    let refusal =
        r#"{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"I cannot help with that."}]}"#;
    let search = r#"{"role":"user","content":[{"type":"search_result","source":"notes","title":"Tides","content":[{"type":"text","text":"High at ten."}]},{"type":"text","text":"When?"}]}"#;
    let guarded = r#"{"role":"user","content":[{"guardContent":{"text":{"text":"When is high tide?"}}}]}"#;
    for (dialect, line, tokens) in [("responses", refusal, 6), ("anthropic", search, 9), ("bedrock", guarded, 5)] {
        let done = run(&["count", "--dialect", dialect, "--output-format", "json"], line);
        let json: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!(json["estimated"], 0, "{dialect}");
        assert!(json["tokens"].as_u64().unwrap() >= tokens, "{dialect}: {json}");
        let checked = run(&["check", "--dialect", dialect], line);
        assert!(!text(&checked.stdout).contains("unread-content"), "{}", text(&checked.stdout));
    }
}

#[test]
fn unknown_content_is_a_finding_and_a_note_of_every_cut() {
    let checked = run(&["check", "--dialect", "anthropic"], &blocks());
    let found = text(&checked.stdout);
    assert!(found.contains("warning[S016]") && found.contains("`toolu_01A`"), "{found}");
    let place = place();
    place.write("goose.jsonl", blocks().as_bytes());
    let cuts = COMMANDS.iter().filter(|command| {
        let notes = ["count", "show", "view", "replay"].contains(&command[0]);
        !notes && !command.contains(&"--handoff") && !command.contains(&"--dry-run") && **command != ["memory", "apply"]
    });
    for command in cuts {
        let done = place.curtail(&[command, &["--dialect", "anthropic", "goose.jsonl"][..]].concat()).output().unwrap();
        let stderr = text(&done.stderr);
        assert_eq!(stderr.matches("% of the text has an unknown type").count(), 1, "{command:?}: {stderr}");
    }
}

/// Little text of unknown type matters only if another part names its id.
#[test]
fn a_small_unknown_part_matters_if_another_part_names_its_id() {
    let chat = |id: &str| {
        format!(
            "{}\n{}\n{}\n{}\n",
            r#"{"role":"user","content":"When does the ferry leave from the north pier today, and is it late?"}"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"timetable","input":{"pier":"north"}}]}"#,
            format_args!(
                r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t1","content":"{}"}},{{"type":"seal","for_call_id":"{id}"}}]}}"#,
                "10:31, four minutes late. ".repeat(30)
            ),
            r#"{"role":"assistant","content":"At 10:31, four minutes late."}"#,
        )
    };
    let finds = |id: &str| text(&run(&["check"], &chat(id)).stdout).contains("unread-content");
    assert!(finds("t1") && !finds("t2"));
}
