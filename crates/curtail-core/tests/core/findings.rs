//! What is found, at which level, and what the help says of it.

use curtail_core::checks::{Finding, Fix, Inspection, Level};

use crate::checked::{detected, inspection, mended, warned};

fn found(provider: &str, text: &str) -> Vec<Finding> {
    inspection(provider).examine(&detected(text), &warned(&[]), text).unwrap().findings
}

/// The findings of the rule with this code.
fn of_rule(code: &str, provider: &str, text: &str) -> Vec<Finding> {
    found(provider, text).into_iter().filter(|finding| finding.rule.code == code).collect()
}

#[test]
fn a_row_without_a_history_is_answered_beside_it() {
    let row = |answer: &str| format!("{{\"instruction\":\"Is it raining?\",\"output\":\"{answer}\",\"history\":[]}}\n");
    assert_eq!(of_rule("D001", "", &row("It is.")).len(), 0);
    assert_eq!(of_rule("D001", "", &row("")).len(), 1);
    assert_eq!(of_rule("D001", "", "{\"history\":[]}\n").len(), 1);
}

#[test]
fn help_promises_no_fix_in_a_file_that_is_not_json() {
    let chat = |broken: &str| {
        let lines = [
            r#"{"role":"user","content":"Is it raining?"}"#,
            r#"{"role":"tool","tool_call_id":"call_1","content":"rain"}"#,
            broken,
            r#"{"role":"assistant","content":"It is.","tool_calls":[]}"#,
        ];
        lines.join("\n")
    };
    for code in ["P001", "S030"] {
        let finding = &of_rule(code, "", &chat(r#"{"role":"assistant","content":"Let me"#))[0];
        assert!(finding.help.ends_with("`curtail repair --damaged`"), "{}", finding.help);
        assert_eq!((finding.fix, finding.mended_by()), (Fix::No, None));
    }
    // A log may end within a line, and is mended before it.
    let log = include_str!("../../../../fixtures/dialects/claude-code/minimal.jsonl");
    let orphan = r#"{"type":"user","uuid":"5b0e7c1a-0000-4000-8000-000000000099","parentUuid":"5b0e7c1a-0000-4000-8000-000000000005","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_9","content":"x"}]}}"#;
    let torn = format!("{log}{orphan}\n{{\"type\":\"us");
    let finding = &of_rule("P001", "", &torn)[0];
    assert_eq!((&finding.help[..], finding.fix), (finding.rule.help, finding.rule.fix));
}

#[test]
fn answers_are_mended_inside_and_stay_whole() {
    let pair = |chosen: &str, rejected: &str| {
        format!(
            "{{\"messages\":[{{\"role\":\"user\",\"content\":\"Rain?\"}}],\"chosen\":[{chosen}],\"rejected\":[{rejected}]}}\n"
        )
    };
    let [before, after] = [r#","tool_calls":[]"#, ""].map(|calls| {
        let answer = |text: &str| format!("{{\"role\":\"assistant\",\"content\":\"{text}\"{calls}}}");
        pair(&answer("Yes."), &answer("No."))
    });
    assert_eq!(mended("", &[], &before, false).as_deref(), Some(after.as_str()));

    let orphan = r#"{"role":"tool","tool_call_id":"call_1","content":"rain"},{"role":"assistant","content":"Yes."}"#;
    let empty = pair(orphan, r#"{"role":"assistant","content":""}"#);
    assert_eq!(mended("", &[], &empty, false), None);
    for code in ["P001", "S004"] {
        let finding = &of_rule(code, "", &empty)[0];
        assert!(finding.help.ends_with(", but leaves the answers of a row whole"), "{}", finding.help);
        assert_eq!(finding.fix, Fix::No);
    }

    // Two messages of one role are no reason to move the answer into the question.
    let two = r#"{"conversations":[{"from":"human","value":"Rain?"},{"from":"gpt","value":"Let me see."}],"chosen":{"from":"gpt","value":"Yes."},"rejected":{"from":"gpt","value":"No."}}"#;
    assert_eq!(mended("", &[], &format!("{two}\n"), false), None);
}

/// Both lists repeat the question, and begin equally afterwards.
#[test]
fn what_the_lists_of_a_row_repeat_is_mended_in_all_of_them() {
    let row = |calls: &str| {
        let list = |text: &str| {
            format!(
                "[{{\"role\":\"user\",\"content\":\"Hi\"}},{{\"role\":\"assistant\",\"content\":\"Hello.\"{calls}}},{{\"role\":\"user\",\"content\":\"Rain?\"}},{{\"role\":\"assistant\",\"content\":\"{text}\"}}]"
            )
        };
        format!("{{\"chosen\":{},\"rejected\":{}}}\n", list("Yes."), list("No."))
    };
    assert_eq!(mended("", &[], &row(r#","tool_calls":[]"#), false), Some(row("")));
}

#[test]
fn help_promises_no_fix_where_nothing_mends_a_fault() {
    let item = |text: &str| {
        format!(
            "{{\"type\":\"message\",\"id\":\"msg_1\",\"status\":\"completed\",\"role\":\"assistant\",\"content\":[{{\"type\":\"output_text\",\"text\":\"{text}\",\"annotations\":[]}}]}}\n"
        )
    };
    for (second, is_mended) in [("It is.", true), ("And it will.", false)] {
        let finding = &of_rule("S020", "", &(item("It is.") + &item(second)))[0];
        let is_left = finding.help.ends_with("; `--fix` leaves this one to a person");
        assert_eq!((finding.mended_by().is_some(), is_left), (is_mended, !is_mended), "{}", finding.help);
    }
}

#[test]
fn copies_are_equal_beside_their_messages_too() {
    let verdicts = warned(&["duplicate-transcript"]);
    let copies = |rows: [&str; 2]| {
        let text = format!("{}\n{}\n", rows[0], rows[1]);
        let findings = Inspection::default().examine_all(&detected(&text), &verdicts, &text);
        findings.iter().filter(|finding| finding.rule.code == "D003").count()
    };
    let history = |output: &str| {
        format!("{{\"instruction\":\"And?\",\"output\":\"{output}\",\"history\":[[\"Rain?\",\"Yes.\"]]}}")
    };
    let pair = |id: u8, rejected: &str| {
        let answer = |text: &str| format!("[{{\"role\":\"assistant\",\"content\":\"{text}\"}}]");
        let question = r#"[{"role":"user","content":"Rain?"}]"#;
        let (chosen, rejected) = (answer("It is raining."), answer(rejected));
        format!("{{\"id\":{id},\"prompt\":{question},\"chosen\":{chosen},\"rejected\":{rejected}}}")
    };
    let tools =
        |tools: &str| format!("{{\"messages\":[{{\"role\":\"user\",\"content\":\"Rain?\"}}],\"tools\":{tools}}}");
    let tool = r#"[{"type":"function","function":{"name":"weather"}}]"#;
    let reordered = r#"[ {"function":{"name":"we\u0061ther"}, "type":"function"} ]"#;
    for (rows, count) in [
        ([history("Wind."), history("Sun.")], 0),
        ([history("Wind."), history("Wind.")], 1),
        // The longest answer is the same.
        ([pair(1, "No."), pair(2, "Hm.")], 0),
        ([pair(1, "No."), pair(2, "No.")], 1),
        ([tools(tool), tools("[]")], 0),
        ([tools(tool), tools(reordered)], 1),
    ] {
        assert_eq!(copies([&rows[0], &rows[1]]), count, "{rows:?}");
    }
}

/// What is around the messages is said once for all of them.
#[test]
fn a_key_that_a_record_repeats_is_found_where_it_is_repeated() {
    let messages = r#"[{"role":"user","content":"Rain?"},{"role":"assistant","content":"Yes."}]"#;
    for (record, pointers) in [
        (format!(r#"{{"messages":[],"messages":{messages}}}"#), vec!["/messages"]),
        (format!(r#"{{"id":"a","tools":[],"messages":{messages},"id":"b","tools":[]}}"#), vec!["/id", "/tools"]),
        (String::from(r#"{"id":"a","id":"b","messages":[]}"#), vec!["/id"]),
        (
            format!(r#"{{"id":"a","id":"b","body":{{"model":"a","model":"b","messages":{messages}}}}}"#),
            vec!["/id", "/body/model"],
        ),
        (format!(r#"{{"prompt":{messages},"completion":{messages},"completion":{messages}}}"#), vec!["/completion"]),
        (format!(r#"{{"id":"a","id":"b","chosen":{messages},"rejected":{messages}}}"#), vec!["/id"]),
        (format!(r#"[{{"id":"a","id":"b","messages":{messages}}},{{"messages":{messages}}}]"#), vec!["/0/id"]),
    ] {
        let found = of_rule("S007", "", &record);
        let found: Vec<&str> = found.iter().filter_map(|finding| finding.at.pointer.as_deref()).collect();
        assert_eq!(found, pointers, "{record}");
    }
}

#[test]
fn no_command_is_given_for_a_format_that_is_only_read() {
    let thread = include_str!("../../../../fixtures/dialects/zed/thread.json");
    let pending = of_rule("P003", "", thread);
    assert!(!pending.is_empty());
    assert!(pending.iter().all(|finding| finding.fix == Fix::No && finding.mended_by().is_none()));
}

#[test]
fn limits_of_media_are_those_of_the_provider() {
    let wide = "iVBORw0KGgoAAAANSUhEUgAAIygAAAu4CAIAAAA=";
    let chat = format!(
        "{{\"role\":\"user\",\"content\":[{{\"type\":\"image_url\",\"image_url\":{{\"url\":\"data:image/png;base64,{wide}\"}}}}]}}\n"
    );
    let gemini = format!(
        "{{\"contents\":[{{\"role\":\"user\",\"parts\":[{{\"inlineData\":{{\"mimeType\":\"image/png\",\"data\":\"{wide}\"}}}}]}}]}}\n"
    );
    for (provider, text, count) in
        [("", &chat, 0), ("anthropic", &chat, 1), ("bedrock", &chat, 1), ("", &gemini, 0), ("responses", &chat, 0)]
    {
        assert_eq!(of_rule("S017", provider, text).len(), count, "{provider}: {text}");
    }
    for (model, count) in [("anthropic/claude-sonnet-4", 1), ("gpt-5", 0)] {
        let request = format!("{{\"model\":\"{model}\",\"messages\":[{}]}}\n", chat.trim_end());
        assert_eq!(of_rule("S017", "", &request).len(), count, "{request}");
    }
    let any = format!(
        "{{\"id\":\"1\",\"role\":\"user\",\"parts\":[{{\"type\":\"file\",\"mediaType\":\"image/png\",\"url\":\"data:image/png;base64,{wide}\"}}]}}\n"
    );
    assert_eq!(of_rule("S017", "", &any).len(), 1, "{any}");
}

#[test]
fn empty_content_is_denied_where_the_provider_is_known_to_refuse_it() {
    let gemini = |role: &str, parts: &str| {
        format!(
            "{{\"contents\":[{{\"role\":\"user\",\"parts\":[{{\"text\":\"Rain?\"}}]}},{{\"role\":\"{role}\",\"parts\":{parts}}}]}}\n"
        )
    };
    let chat = |role: &str, content: &str| {
        format!(
            "{{\"role\":\"user\",\"content\":\"Rain?\"}}\n{{\"role\":\"{role}\",\"content\":{content}}}\n{{\"role\":\"user\",\"content\":\"Hm?\"}}\n"
        )
    };
    let levels = |provider: &str, text: &str| {
        of_rule("S004", provider, text).iter().map(|finding| finding.level).collect::<Vec<_>>()
    };
    let (deny, warn) = (vec![Level::Deny], vec![Level::Warn]);
    for (provider, text, expected) in [
        ("", gemini("model", "[]"), &deny),
        ("", gemini("user", r#"[{"text":""}]"#), &deny),
        ("", gemini("model", r#"[{"text":" "}]"#), &warn),
        ("openai", chat("assistant", r#""""#), &warn),
        ("openai", chat("assistant", "null"), &deny),
        ("openai", chat("user", "[]"), &deny),
        ("deepseek", chat("assistant", r#""""#), &warn),
        ("mistral", chat("assistant", r#""""#), &deny),
        ("mistral", chat("user", r#""""#), &warn),
        ("xai", chat("user", r#""""#), &deny),
        ("xai", chat("user", r#"" ""#), &warn),
        ("anthropic", chat("user", r#"" ""#), &deny),
    ] {
        assert_eq!(&levels(provider, &text), expected, "{provider}: {text}");
    }
}

#[test]
fn halves_of_characters_are_searched_in_what_is_sent() {
    const HALF: &str = "S023";
    let said = r#"[{"role":"user","content":"Hi"},{"role":"assistant","content":"Yes"}]"#;
    for beside in [
        r#""system":"Notes: \ud83e""#,
        r#""system":[{"type":"text","text":"Notes: \ud83e"}]"#,
        r#""tools":[{"name":"f","description":"d \ud83e","input_schema":{"type":"object"}}]"#,
    ] {
        let request = format!("{{\"model\":\"claude-opus-4\",{beside},\"max_tokens\":9,\"messages\":{said}}}\n");
        let halves = of_rule(HALF, "anthropic", &request);
        assert_eq!((halves.len(), halves[0].at.message), (1, None), "{beside}");
        assert_eq!(mended("", &[], &request, false), Some(request.replace("\\ud83e", "\\ufffd")));
    }
    let request = format!("{{\"instructions\":\"Notes: \\ud83e\",\"store\":false,\"input\":{said}}}\n");
    assert_eq!(of_rule(HALF, "responses", &request).len(), 1);
    // What Claude Code keeps of a tool beside its result is not sent.
    let log = |sent: &str| {
        let call = r#"{"type":"assistant","uuid":"a","parentUuid":null,"sessionId":"s","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]}}"#;
        format!(
            "{call}\n{{\"type\":\"user\",\"uuid\":\"b\",\"parentUuid\":\"a\",\"sessionId\":\"s\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"{sent}\"}}]}},\"toolUseResult\":{{\"stdout\":\"x \\ud83e\"}}}}\n"
        )
    };
    assert_eq!(of_rule(HALF, "anthropic", &log("x")).len(), 0);
    assert_eq!(of_rule(HALF, "anthropic", &log("x \\ud83e")).len(), 1);
}
