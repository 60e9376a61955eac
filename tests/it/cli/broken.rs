//! Repair, clearing and findings on transcripts that are broken in ways that occur in real programs.

use crate::program::{Place, text};

/// What a command writes, given `input` on standard input.
fn run(arguments: &[&str], input: &str) -> String {
    let output = Place::new().curtail(arguments).write_stdin(input).output().unwrap();
    assert_ne!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// The codes of the findings of `check`, in order.
fn findings(input: &str) -> Vec<String> {
    let report = run(&["check", "--exit-zero", "--output-format", "json"], input);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let findings = report["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

fn lines(items: &[&str]) -> String {
    items.iter().map(|item| format!("{item}\n")).collect()
}

const SEARCH: &str = r#"{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"weather"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","title":"Rain","url":"https://example.org","encrypted_content":"RXU="}]},{"type":"text","text":"It rains."}]}"#;

#[test]
fn the_result_of_a_server_tool_is_not_cleared() {
    let code = r#"{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_2","name":"bash_code_execution","input":{"command":"ls"}},{"type":"bash_code_execution_tool_result","tool_use_id":"srvtoolu_2","content":{"type":"bash_code_execution_result","stdout":"a long listing of many files here","stderr":"","return_code":0,"content":[]}},{"type":"text","text":"ok"}]}"#;
    let block = r#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"read","input":{}}]}"#;
    let answer = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"a long result that can be cleared"}]}]}"#;
    let input = lines(&[r#"{"role":"user","content":"go"}"#, SEARCH, code, block, answer]);
    let cleared = run(&["filter", "--keep-last-results", "0"], &input);
    assert_eq!(
        cleared.replace(r#""[cleared]""#, r#"[{"type":"text","text":"a long result that can be cleared"}]"#),
        input
    );
}

#[test]
fn truncating_never_makes_a_transcript_longer() {
    let input = lines(&[SEARCH]);
    for tokens in 0..60 {
        let tokens = tokens.to_string();
        let arguments = [
            "limit", "-t", &tokens, "--on-overflow", "truncate", "--no-preserve-system", "--dialect", "anthropic", "-q",
        ];
        // A budget that keeps nothing is refused, and nothing is written.
        let output = text(&Place::new().curtail(&arguments).write_stdin(input.clone()).output().unwrap().stdout);
        assert!(output.len() <= input.len(), "{tokens} tokens: {output}");
    }
}

/// No result can name a call without an id: the call is dropped, in every mode, and nothing is left to report.
#[test]
fn a_call_without_its_id_is_dropped() {
    let openai = lines(&[
        r#"{"role":"user","content":"hi"}"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"f","arguments":"{}"}}]}"#,
        r#"{"role":"user","content":"and?"}"#,
    ]);
    let claude = lines(&[
        r#"{"type":"user","message":{"role":"user","content":"go"},"uuid":"1","parentUuid":null,"sessionId":"s"}"#,
        r#"{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","name":"Bash","input":{}}]},"uuid":"2","parentUuid":"1","sessionId":"s"}"#,
        r#"{"type":"user","message":{"role":"user","content":"well?"},"uuid":"3","parentUuid":"2","sessionId":"s"}"#,
    ]);
    for input in [openai, claude] {
        let once = run(&["repair", "--mode", "stub"], &input);
        assert_eq!(run(&["repair", "--mode", "stub"], &once), once);
        let left: Vec<String> = findings(&once).into_iter().filter(|code| code.starts_with('P')).collect();
        assert!(left.is_empty(), "{left:?} in {once}");
    }
}

#[test]
fn a_stub_for_gemini_is_right_behind_its_call() {
    let input = lines(&[
        r#"{"role":"user","parts":[{"text":"Weather?"}]}"#,
        r#"{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{}}}]}"#,
        r#"{"role":"model","parts":[{"functionCall":{"id":"b","name":"g","args":{}}}]}"#,
        r#"{"role":"user","parts":[{"functionResponse":{"id":"b","name":"g","response":{"output":"ok"}}}]}"#,
        r#"{"role":"model","parts":[{"text":"Done."}]}"#,
    ]);
    let repaired = run(&["repair", "--mode", "stub"], &input);
    assert_eq!(findings(&repaired), Vec::<String>::new(), "{repaired}");
}

/// Older Responses histories answer a local shell call as they answer a function.
#[test]
fn a_local_shell_call_is_answered_by_the_result_of_a_function() {
    let input = lines(&[
        r#"{"type":"message","role":"user","content":"go"}"#,
        r#"{"type":"local_shell_call","call_id":"c1","status":"completed","action":{"type":"exec","command":["ls"]}}"#,
        r#"{"type":"function_call_output","call_id":"c1","output":"a.txt"}"#,
        r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}"#,
    ]);
    assert_eq!(run(&["repair", "--mode", "stub"], &input), input);
    assert_eq!(findings(&input), Vec::<String>::new());
}

/// The repair decides which round is in flight, so the window is cut after it.
#[test]
fn a_window_is_cut_after_the_repair() {
    let input = lines(&[
        r#"{"role":"user","content":"a"}"#,
        r#"{"role":"assistant","content":"b"}"#,
        r#"{"role":"user","content":"c"}"#,
        r#"{"role":"assistant","content":"d"}"#,
        r#"{"role":"assistant","content":"e","tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}}]}"#,
        r#"{"role":"tool","tool_call_id":"y","content":"z"}"#,
    ]);
    let arguments = ["window", "-n", "1", "--max-expansion", "1", "--repair", "drop", "--repair-pending"];
    let once = run(&arguments, &input);
    assert_eq!(run(&arguments, &once), once);
}

/// A log writes one reply in several lines: only a reply without text in all of them is empty.
#[test]
fn a_reply_in_several_lines_is_not_empty() {
    let line = |text: &str, uuid: u32| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"m1","role":"assistant","content":[{{"type":"text","text":"{text}"}}]}},"uuid":"{uuid}","parentUuid":"{}","sessionId":"s"}}"#,
            uuid - 1
        )
    };
    let user =
        r#"{"type":"user","message":{"role":"user","content":"go"},"uuid":"1","parentUuid":null,"sessionId":"s"}"#;
    let split = lines(&[user, &line(r"\n\n", 2), &line("Hello", 3)]);
    assert_eq!(findings(&split), Vec::<String>::new());
    let empty = lines(&[user, &line(r"\n\n", 2), &line(" ", 3)]);
    assert_eq!(findings(&empty), ["S004", "S004"]);
}

/// A duplicate id does not hide that a call of that id has no result.
#[test]
fn an_unanswered_call_is_reported_beside_a_duplicate() {
    let call = |name: &str| {
        format!(
            r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"x","type":"function","function":{{"name":"{name}","arguments":"{{}}"}}}}]}}"#
        )
    };
    let input = lines(&[
        r#"{"role":"user","content":"a"}"#,
        &call("f"),
        r#"{"role":"user","content":"b"}"#,
        &call("g"),
        r#"{"role":"tool","tool_call_id":"x","content":"ok"}"#,
        r#"{"role":"assistant","content":"done"}"#,
    ]);
    assert_eq!(findings(&input), ["P002", "P004"]);
    assert_eq!(findings(&run(&["filter", "-x", "g"], &input)), ["P002"]);
}

#[test]
fn the_orphan_of_a_server_tool_is_denied() {
    let input = lines(&[
        r#"{"role":"user","content":"go"}"#,
        r#"{"role":"assistant","content":[{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},{"type":"text","text":"It rains."}]}"#,
    ]);
    let output = Place::new().curtail(&["check"]).write_stdin(input).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
}

/// Lines of Claude Code that nobody typed begin no turn.
#[test]
fn only_what_a_person_typed_begins_a_turn() {
    let line = |kind: &str, text: &str, more: &str, uuid: u32| {
        format!(
            r#"{{"type":"{kind}","message":{{"role":"{kind}","content":"{text}"}},"uuid":"{uuid}","parentUuid":"{}","sessionId":"s"{more}}}"#,
            uuid - 1
        )
    };
    let items = [
        line("user", "first", "", 1),
        line("assistant", "one", "", 2),
        line("user", "second", "", 3),
        line("assistant", "two", "", 4),
        line("user", "<command-name>/model</command-name>", "", 5),
        line("user", "<local-command-stdout>set</local-command-stdout>", "", 6),
        line("user", "Caveat", r#","isMeta":true"#, 7),
        line("assistant", "three", "", 8),
    ];
    let input: String = items.iter().map(|item| format!("{item}\n")).collect();
    let last = run(&["window", "-n", "1", "--unit", "turns"], &input);
    assert!(last.contains("second") && last.contains("<command-name>") && !last.contains("first"), "{last}");
    let started = run(&["window", "-n", "3", "--start-on", "user"], &input);
    assert!(started.lines().next().unwrap().contains("second"), "{started}");
}
