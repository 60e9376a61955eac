//! What `check --fix` changes: what was found, and nothing else.

use std::fs;

use assert_cmd::Command;

use super::{ASK, CALL, RESULT, SAY, curtail, lines};
use crate::program::{Place, text};

/// Each fault alone: its code and a transcript that has it.
fn faults() -> Vec<(&'static str, String)> {
    let other = CALL.replace("call_1", "call_2");
    let both = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"a","arguments":"{}"}},{"id":"call_1","type":"function","function":{"name":"b","arguments":"{}"}}]}"#;
    let anthropic = [
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"weather","input":{}}]}"#,
        r#"{"role":"user","content":[{"type":"text","text":"Here:"},{"type":"tool_result","tool_use_id":"toolu_1","content":"rain"}]}"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"It is."}]}"#,
    ];
    let custom = [
        r#"{"type":"message","role":"user","content":"Is it raining?"}"#,
        r#"{"type":"custom_tool_call","call_id":"call_1","name":"weather","input":"Oslo"}"#,
        r#"{"type":"function_call_output","call_id":"call_1","output":"rain"}"#,
        r#"{"type":"message","role":"assistant","content":"It is."}"#,
    ];
    vec![
        ("P001", lines(&[ASK, RESULT, SAY])),
        ("P002", lines(&[ASK, CALL, ASK, SAY])),
        ("P003", lines(&[ASK, CALL])),
        ("P004", lines(&[ASK, both, RESULT, RESULT, SAY])),
        ("P005", lines(&[ASK, CALL, RESULT, RESULT, SAY])),
        ("P006", lines(&[ASK, RESULT, CALL, SAY])),
        ("P007", lines(&[ASK, CALL, ASK, RESULT, SAY])),
        ("P008", lines(&custom)),
        ("P009", lines(&[ASK, r#"{"role":"tool","content":"rain"}"#, SAY])),
        ("S012", lines(&[ASK, anthropic[0], anthropic[1], anthropic[2]])),
        // The other fault is repaired all the same.
        ("P003", lines(&[ASK, CALL, ASK, SAY, ASK, &other])),
    ]
}

/// Runs `check` with these flags in a folder with this transcript: the status, what was printed, and the file afterwards.
fn checked(config: &str, transcript: &str, args: &[&str]) -> (i32, String, String) {
    let place = Place::new();
    place.write("raw/k.jsonl", transcript.as_bytes());
    place.write("curtail.toml", config.as_bytes());
    let output = place.command(&[&["check", "raw"], args].concat()).output().unwrap();
    let printed = format!("{}{}", text(&output.stdout), text(&output.stderr));
    (output.status.code().unwrap(), printed, text(&place.read("raw/k.jsonl")))
}

#[test]
fn what_is_allowed_is_not_repaired() {
    for (code, transcript) in faults().into_iter().take(10) {
        let only = format!("[check]\nallow = ['all']\ndeny = ['{code}']\n");
        let path = "[[check.paths]]\npath = 'raw/**'\nallow = ['all']\n";
        for mode in ["--fix", "--fix=drop", "--fix=stub", "--fix=move"] {
            let flags = [mode, "--repair-pending"];
            let (_, printed, after) = checked(&only, &transcript, &flags);
            assert_ne!(after, transcript, "{code} {mode}: {printed}");
            assert!(printed.contains("changed: raw/k.jsonl\n"), "{code} {mode}: {printed}");
            for (config, more) in [(path, &[][..]), ("", &["-A", code]), ("[check]\nallow = ['all']\n", &[])] {
                let (_, printed, after) = checked(config, &transcript, &[&flags, more].concat());
                assert_eq!(after, transcript, "{code} {mode} with {config} {more:?}: {printed}");
                assert!(!printed.contains("changed:"), "{printed}");
            }
            let (status, printed, _) = checked("", &transcript, &["--diff", "--repair-pending", mode, "-A", code]);
            assert_eq!((status, printed.as_str()), (0, ""), "{code} {mode}");
        }
    }
}

#[test]
fn beside_an_allowed_fault_another_one_is_repaired() {
    let orphan = RESULT.replace("call_1", "call_0");
    for (code, transcript) in faults().into_iter().filter(|(code, _)| ["P002", "P003", "P005", "P007"].contains(code)) {
        let both = transcript.replacen(ASK, &format!("{ASK}\n{orphan}"), 1);
        let (_, _, after) = checked("", &both, &["--fix", "--repair-pending", "-A", "P001"]);
        assert!(after.contains("call_0") && after != both, "{code}: {after}");
        let (_, _, after) = checked("", &both, &["--fix", "--repair-pending", "-A", code]);
        assert_eq!(
            after,
            if code == "P003" && transcript.matches("call_2").count() > 0 {
                both.replacen(&format!("{orphan}\n"), "", 1).replacen(&format!("{CALL}\n"), "", 1)
            } else {
                both.replacen(&format!("{orphan}\n"), "", 1)
            },
            "{code}"
        );
    }
}

#[test]
fn what_the_server_stores_or_the_model_no_longer_reads_is_not_repaired() {
    let stored = lines(&[
        r#"{"type":"message","role":"user","content":"Is it raining?"}"#,
        r#"{"type":"function_call_output","call_id":"call_1","output":"rain"}"#,
        r#"{"type":"message","role":"assistant","content":"It is."}"#,
    ]);
    assert_eq!(checked("", &stored, &["--fix", "--stateful"]).2, stored);
    assert_ne!(checked("", &stored, &["--fix"]).2, stored);
    let old = lines(&[
        ASK,
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"weather","input":{}}]}"#,
        ASK,
        r#"{"role":"assistant","content":[{"type":"compaction","content":"It rains."}]}"#,
        ASK,
    ]);
    assert_eq!(checked("", &old, &["--fix", "--live"]).2, old);
    assert_ne!(checked("", &old, &["--fix"]).2, old);
}

#[test]
fn one_default_moves_what_drop_would_lose() {
    for transcript in [lines(&[ASK, CALL, ASK, RESULT, SAY]), lines(&[ASK, RESULT, CALL, SAY])] {
        let (status, _, fixed) = checked("", &transcript, &["--fix"]);
        assert_eq!(status, 0);
        let (_, _, moved) = checked("", &transcript, &["--fix=move"]);
        let place = Place::new();
        place.write("t.jsonl", transcript.as_bytes());
        let repaired = place.curtail(&["repair", "t.jsonl"]).output().unwrap();
        assert_eq!(fixed, text(&repaired.stdout));
        assert_eq!(fixed, moved);
        assert!(fixed.contains(&format!("{CALL}\n{RESULT}\n")), "{fixed}");
        assert_eq!(fixed.lines().count(), transcript.lines().count());
    }
}

#[test]
fn a_result_before_its_call_is_moved_behind_it_in_every_form() {
    let call = |id: &str| format!(r#"{{"type":"tool_use","id":"{id}","name":"weather","input":{{}}}}"#);
    let result = |id: &str| format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"rain"}}"#);
    let user = |parts: &[String]| format!(r#"{{"role":"user","content":[{}]}}"#, parts.join(","));
    let model = |parts: &[String]| format!(r#"{{"role":"assistant","content":[{}]}}"#, parts.join(","));
    let ask = r#"{"type":"text","text":"Is it raining?"}"#.to_owned();
    let end = r#"{"role":"assistant","content":[{"type":"text","text":"It is."}]}"#;
    let cases = [
        lines(&[ASK, SAY, &user(&[result("t1")]), &model(&[call("t1")]), &user(std::slice::from_ref(&ask)), end]),
        lines(&[
            ASK,
            SAY,
            &user(&[result("t1"), ask.clone()]),
            &model(&[call("t1")]),
            &user(std::slice::from_ref(&ask)),
            end,
        ]),
        lines(&[ASK, SAY, &user(&[result("t2"), result("t1")]), &model(&[call("t1"), call("t2")])]),
        lines(&[ASK, RESULT, RESULT, CALL, SAY]),
        lines(&[ASK, RESULT, CALL]),
    ];
    for transcript in cases {
        let (status, printed, fixed) = checked("", &transcript, &["--fix"]);
        assert_eq!(status, 0, "{transcript}{printed}");
        for id in ["t1", "t2", "call_1"].into_iter().filter(|id| transcript.contains(id)) {
            let position =
                |key: &str| fixed.find(&format!("\"{key}\":\"{id}\"")).unwrap_or_else(|| panic!("{key} {id}: {fixed}"));
            let result = if id == "call_1" { position("tool_call_id") } else { position("tool_use_id") };
            assert!(position("id") < result, "{fixed}");
        }
        assert_eq!(checked("", &fixed, &["--fix"]).2, fixed);
    }
}

/// What would have been repaired in a file that is not written is still found, and the report says why.
#[test]
fn what_is_not_written_is_not_repaired() {
    let place = Place::new();
    let broken = format!("{{\"messages\":[{ASK},{RESULT},{SAY}]}}\n");
    let garbled = [broken.as_bytes(), b"{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}\n"].concat();
    let long = format!("{broken}{{\"messages\":[{{\"role\":\"user\",\"content\":\"{}\"}}]}}\n", "a".repeat(2_000));
    for (bytes, flags, status) in
        [(&garbled[..], ["--warn", "S001"], 1), (long.as_bytes(), ["--max-record", "1000"], 2)]
    {
        place.write("t.jsonl", bytes);
        let output = place.command(&["check", "--fix", flags[0], flags[1], "t.jsonl"]).output().unwrap();
        let printed = text(&output.stdout);
        assert_eq!(output.status.code(), Some(status), "{printed}");
        assert!(printed.contains("error[P001]"), "{printed}");
        assert!(printed.contains("not repaired: the file was not written"), "{printed}");
        assert!(!printed.contains("; 1 repaired") && place.read("t.jsonl") == bytes, "{printed}");
        let plain = text(&place.command(&["check", flags[0], flags[1], "t.jsonl"]).output().unwrap().stdout);
        let places = |report: &str| -> Vec<String> {
            report.lines().filter(|line| line.contains("--> ")).map(str::to_owned).collect()
        };
        assert_eq!(places(&printed), places(&plain));
    }
}

#[test]
fn a_file_that_is_not_unicode_is_a_finding_with_every_flag() {
    let place = Place::new();
    let orphan = lines(&[ASK, RESULT, SAY]);
    for (bytes, is_partly_read) in [
        ([orphan.as_bytes(), b"{\"role\":\"user\",\"content\":\"\xff\"}\n"].concat(), true),
        (b"{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}\n{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}\n".to_vec(), true),
        (b"[{\"role\":\"user\",\"content\":\"\xff\"}]".to_vec(), false),
        (b"\xff{\"role\":\"user\"}\n".to_vec(), false),
    ] {
        place.write("t.jsonl", &bytes);
        for args in [&["check", "t.jsonl"][..], &["check", "--fix", "t.jsonl"], &["check", "--diff", "-D", "all", "t.jsonl"]] {
            let output = place.command(args).output().unwrap();
            let printed = text(&output.stdout);
            assert_eq!(output.status.code(), Some(1), "{args:?}: {printed}{}", text(&output.stderr));
            assert!(args.contains(&"--diff") || printed.contains("error[S001]: invalid UTF-8"), "{args:?}: {printed}");
            assert_eq!(place.read("t.jsonl"), bytes);
        }
        for args in [&["repair", "t.jsonl"][..], &["check", "-A", "S001", "t.jsonl"]] {
            assert_eq!(place.command(args).output().unwrap().status.code(), Some(2), "{args:?}");
        }
        for args in [["count", "t.jsonl"], ["show", "t.jsonl"]] {
            let output = place.command(&args).output().unwrap();
            assert_eq!(output.status.code(), Some(if is_partly_read { 0 } else { 2 }), "{args:?}: {bytes:?}");
            assert!(!output.stderr.is_empty(), "{args:?}: what cannot be read is named");
        }
    }
}

#[test]
fn check_and_count_count_the_same_transcripts() {
    let place = Place::new();
    let chat = r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}"#;
    for (name, content, transcripts) in [
        ("a.jsonl", String::new(), 0),
        ("a.jsonl", String::from("\n \n"), 0),
        ("a.jsonl", String::from("{\"messages\":[]}\n"), 1),
        ("a.json", String::from("[]"), 1),
        ("a.json", String::from("[[],[]]"), 2),
        ("a.jsonl", format!("{{\"messages\":[]}}\n{chat}\n\n{{\"messages\":[]}}\n"), 3),
        ("a.jsonl", lines(&[ASK, SAY]), 1),
    ] {
        place.write(name, content.as_bytes());
        let json = |args: &[&str]| -> serde_json::Value {
            serde_json::from_slice(
                &place.command(&[args, &["--output-format", "json", name]].concat()).output().unwrap().stdout,
            )
            .unwrap()
        };
        let (counted, checked) = (json(&["count"]), json(&["check"]));
        assert_eq!(counted["transcripts"], transcripts, "{content:?}: {counted}");
        assert_eq!(checked["summary"]["transcripts"], transcripts, "{content:?}: {checked}");
        let empty = content.matches("[]").count() as u64;
        let found = checked["findings"].as_array().unwrap().iter().filter(|one| one["rule"] == "no-assistant-message");
        assert_eq!(found.count() as u64, empty, "{content:?}: {checked}");
        std::fs::remove_file(place.path(name)).unwrap();
    }
}

#[test]
fn a_copy_that_another_program_wrote_is_a_copy() {
    let place = Place::new();
    let call = |arguments: &str| {
        format!(r#"{{"role":"assistant","tool_calls":[{{"id":"c","type":"function","score":{arguments}}}]}}"#)
    };
    let first = format!(r#"{{"id":1,"messages":[{{"role":"user","content":"Café /"}},{}]}}"#, call("0"));
    let copies = [
        format!(r#"{{"messages":[{{"content":"Caf\u00e9 \/","role":"user"}},{}]}}"#, call("0.0")),
        format!(r#"{{"messages": [{{"role": "user", "content": "Café /"}}, {}]}}"#, call("-0e3")),
    ];
    let others = [
        format!(r#"{{"messages":[{{"role":"user","content":"Café  /"}},{}]}}"#, call("0")),
        format!(r#"{{"messages":[{{"role":"user","content":"Café /"}},{}]}}"#, call("1")),
        format!(r#"{{"messages":[{{"role":"user","content":"Café /"}},{}]}}"#, call("\"0\"")),
    ];
    for (second, findings) in copies.iter().map(|copy| (copy, 1)).chain(others.iter().map(|other| (other, 0))) {
        place.write("t.jsonl", format!("{first}\n{second}\n").as_bytes());
        let output = place.command(&["check", "-A", "all", "-D", "D003", "t.jsonl"]).output().unwrap();
        assert_eq!(output.status.code(), Some(findings), "{second}: {}", text(&output.stdout));
    }
}

#[test]
fn the_last_line_counts_what_was_checked() {
    let place = Place::new();
    place.write("good.jsonl", lines(&[ASK, SAY]).as_bytes());
    place.write("broken.jsonl", b"{\"role\":\n");
    place.write("orphan.jsonl", lines(&[ASK, RESULT, SAY]).as_bytes());
    place.write("other.jsonl", b"{\"a\":1}\n");
    for (args, last) in [
        (&["missing"][..], "checked 0 of 1 file: 1 error"),
        (&["missing", "gone"], "checked 0 of 2 files: 2 errors"),
        (&["good.jsonl", "missing"], "no findings in 1 transcript; checked 1 of 2 files: 1 error"),
        (&["orphan.jsonl", "missing"], "1 error in 1 transcript; checked 1 of 2 files: 1 error"),
        (&["broken.jsonl"], "1 error in 1 file"),
        (&["good.jsonl"], "no findings in 1 transcript of 1 file"),
        (&["good.jsonl", "orphan.jsonl"], "1 error in 2 transcripts of 2 files"),
        (&["--messages-key", "x", "--framing", "records", "other.jsonl"], "checked 0 of 1 file: 1 error"),
    ] {
        let output = place.command(&[&["check"], args].concat()).output().unwrap();
        assert_eq!(text(&output.stdout).lines().last(), Some(last), "{args:?} {}", text(&output.stderr));
    }
}

#[test]
fn a_directory_without_transcripts_is_no_error_but_for_a_check() {
    let place = Place::new();
    std::fs::create_dir(place.path("empty")).unwrap();
    for (args, status) in [
        (&["check", "empty"][..], 2),
        (&["check", "--fix", "empty"], 2),
        (&["check", "--allow-empty", "empty"], 0),
        (&["count", "empty"], 0),
        (&["show", "empty"], 0),
        (&["view", "empty"], 0),
        (&["window", "-n", "2", "empty"], 0),
        (&["filter", "-x", "a", "-i", "empty"], 0),
        (&["split", "-t", "50", "empty"], 0),
        (&["replay", "--policy", "keep-40", "empty"], 0),
        (&["verify", "empty"], 0),
        (&["verify", "empty", "empty"], 0),
        (&["memory", "apply", "empty"], 0),
    ] {
        let output = place.command(args).output().unwrap();
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{args:?} {err}");
        assert!(args[0] == "check" || err.contains("no transcripts found"), "{args:?} {err}");
    }
}

#[test]
fn the_flags_of_other_linters_and_short_codes_are_answered() {
    for (args, words) in [
        (&["check", "--select", "P001"][..], "-D, -W and -A RULE"),
        (&["check", "--ignore=P001"], "-D, -W and -A RULE"),
        (&["rule", "P1"], "did you mean `P001`?"),
        (&["rule", "s13"], "did you mean `S013`?"),
        (&["check", "-D", "D3"], "did you mean `D003`?"),
    ] {
        let output = Place::new().command(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let err = text(&output.stderr);
        assert!(err.contains(words), "{args:?}: {err}");
    }
}

/// Messages of one role in a row are one turn, for the place of a result and for the number of results alike.
#[test]
fn a_repaired_transcript_of_gemini_has_as_many_results_as_calls() {
    let call = |id: &str, name: &str| format!(r#"{{"functionCall":{{"id":"{id}","name":"{name}","args":{{}}}}}}"#);
    let result = |id: &str, name: &str| {
        format!(r#"{{"functionResponse":{{"id":"{id}","name":"{name}","response":{{"output":"ok"}}}}}}"#)
    };
    let message = |role: &str, parts: &[String]| format!(r#"{{"role":"{role}","parts":[{}]}}"#, parts.join(","));
    let ask = || message("user", &[String::from(r#"{"text":"Weather?"}"#)]);
    let end = || message("model", &[String::from(r#"{"text":"Done."}"#)]);
    let two = || message("model", &[call("a", "f"), call("b", "g")]);
    let (one, other) = (message("user", &[result("a", "f")]), message("user", &[result("b", "g")]));
    let together = message("user", &[result("a", "f"), result("b", "g")]);
    let apart = [message("model", &[call("a", "f")]), message("model", &[call("b", "g")])];
    let cases = [
        vec![ask(), two(), one.clone(), other.clone(), end()],
        vec![ask(), apart[0].clone(), apart[1].clone(), together.clone(), end()],
        vec![ask(), apart[0].clone(), apart[1].clone(), one.clone(), other.clone(), end()],
        vec![ask(), apart[0].clone(), apart[1].clone(), other.clone(), end()],
        vec![ask(), two(), one.clone(), end()],
        vec![ask(), two(), ask(), other, end()],
    ];
    for messages in cases {
        let transcript: String = messages.iter().map(|message| format!("{message}\n")).collect();
        for mode in ["--fix", "--fix=stub", "--fix=drop"] {
            let (status, printed, _) = checked("", &transcript, &[mode, "--dialect", "gemini"]);
            assert_eq!(status, 0, "{mode} {transcript}{printed}");
        }
    }
}

/// A call with this id, name and input, and its result, as Anthropic has them.
fn pair(id: &str, name: &str, input: &str) -> [String; 2] {
    [
        format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}"#),
        format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"{{\"name\":\"{name}\"}}"}}"#),
    ]
}

fn anthropic(pairs: &[[String; 2]]) -> String {
    let [calls, results] = [0, 1].map(|nth| pairs.iter().map(|pair| pair[nth].as_str()).collect::<Vec<_>>().join(","));
    let called = format!(r#"{{"role":"assistant","content":[{calls}]}}"#);
    let answered = format!(r#"{{"role":"user","content":[{results}]}}"#);
    lines(&[ASK, &called, &answered, r#"{"role":"assistant","content":[{"type":"text","text":"It is."}]}"#])
}

#[test]
fn a_new_name_changes_no_arguments() {
    for (name, new, input) in [
        ("", "unnamed", r#"{"filename":"","name":""}"#),
        ("weather of", "weather_of", r#"{"display_name":"weather of","name":"weather of"}"#),
    ] {
        let (status, printed, after) = checked("", &anthropic(&[pair("toolu_1", name, input)]), &["--fix"]);
        let [call, _] = pair("toolu_1", new, input);
        assert!(status == 0 && after.contains(&call), "{printed}{after}");
    }
    let input = r#"{"id":"call 1"}"#;
    let (_, printed, after) = checked("", &anthropic(&[pair("call 1", "weather", input)]), &["--fix"]);
    let [call, _] = pair("call_1", "weather", input);
    assert!(after.contains(&call) && after.contains(r#""tool_use_id":"call_1""#), "{printed}{after}");
}

#[test]
fn ids_that_would_become_the_same_stay_apart() {
    let pairs = [pair("call 1", "weather", "{}"), pair("call|1", "weather", "{}"), pair("call_1", "weather", "{}")];
    let (status, printed, after) = checked("", &anthropic(&pairs), &["--fix"]);
    assert_eq!(status, 0, "{printed}{after}");
    assert!(!after.contains("call 1") && !after.contains("call|1") && after.contains(r#""id":"call_1""#), "{after}");
    let (status, printed, _) = checked("", &after, &[]);
    assert_eq!(status, 0, "{printed}");
}

/// The others of its file are repaired.
#[test]
fn a_transcript_that_cannot_be_cut_keeps_its_findings() {
    let row = |member: &str| {
        format!(
            r#"{{"messages":[{ASK},{{"role":"assistant","content":"I look."{member}}},{{"role":"tool","tool_call_id":"call_1","content":"lit"}}]}}"#
        )
    };
    let rows = lines(&[&row(r#","actions":[{"call":"call_1","fn":"look"}]"#), &row("")]);
    let (status, printed, after) = checked("", &rows, &["--fix"]);
    assert!(status == 1 && printed.contains("= help: not repaired: the result after it names a call"), "{printed}");
    assert_eq!(printed.matches("curtail: raw/k.jsonl:1:115: not repaired: ").count(), 1, "{printed}");
    assert!(printed.contains("; 1 repaired"), "{printed}");
    assert!(after.starts_with(rows.lines().next().unwrap()) && after.matches("tool_call_id").count() == 1, "{after}");
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

/// A transcript of which a repair would leave no message stays as it is, and that is said, in every framing.
#[test]
fn what_would_be_empty_is_not_repaired() {
    let place = Place::new();
    let thought = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"Rain?","signature":"c2ln"}]}"#;
    for (name, broken) in [
        ("log.jsonl", lines(&[RESULT])),
        ("list.json", format!("[{RESULT}]\n")),
        ("rows.jsonl", format!("{{\"messages\":[{RESULT}]}}\n{{\"messages\":[{ASK},{SAY}]}}\n")),
        ("thought.json", format!("[{thought}]\n")),
    ] {
        place.write(name, broken.as_bytes());
        let fixed = place.curtail(&["check", "--fix", "--unsafe-fixes", name]).output().unwrap();
        assert_eq!(place.read(name), broken.as_bytes(), "{name}");
        assert!(text(&fixed.stdout).contains("not repaired: "), "{name}: {}", text(&fixed.stdout));
        assert!(!text(&fixed.stdout).contains(" repaired\n"), "{name}: {}", text(&fixed.stdout));
        if name != "thought.json" {
            let repaired = place.curtail(&["repair", name]).output().unwrap();
            assert_eq!(repaired.status.code(), Some(2), "{name}: {}", text(&repaired.stderr));
            assert!(text(&repaired.stderr).contains("repair would drop the only message"), "{name}");
        }
    }
}
