//! The known answers, in every way in which they reach a screen, and what is no answer about a transcript.

use curtail_core::checks::{ALL, Answer, Constraint, Diagnosis, Finding, Inspection, Rule, Table, constraints};

use super::found;
use crate::checked::{detected, verdicts};

/// The words of a row with numbers and ids in them.
fn filled(row: &Constraint, message: usize, id: &str) -> String {
    let base = usize::from(row.words.contains(".member."));
    let words = row.words.replace("srvtoolu_…", id).replace("toolu_…", id).replace("tooluse_…", id);
    let words = words.replace("call_….", &format!("{id}.")).replace("call_…", id);
    let mut out = String::new();
    let mut rest = words.as_str();
    // The first number is that of the message.
    for (mark, number) in [('N', message + base), ('M', base), ('K', 0)] {
        let at = rest.char_indices().find(|(at, c)| *c == mark && stands_alone(rest, *at));
        if let Some((at, _)) = at {
            out += &rest[..at];
            out += &number.to_string();
            rest = &rest[at + 1..];
        }
    }
    (out + rest).replace('…', "x")
}

fn stands_alone(text: &str, at: usize) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    !is_word(text[..at].chars().next_back()) && !is_word(text[at + 1..].chars().next())
}

/// Ways in which a sentence reaches a screen.
fn quoted(sentence: &str) -> Vec<(&'static str, String)> {
    let json = |text: &str| serde_json::to_string(text).unwrap();
    let inner = format!(
        "{{\"type\":\"error\",\"error\":{{\"type\":\"invalid_request_error\",\"message\":{}}}}}",
        json(sentence)
    );
    let python = sentence.replace('\'', "\\'");
    let in_box: String = sentence
        .chars()
        .collect::<Vec<_>>()
        .chunks(38)
        .map(|line| format!("\u{2502} {:38} \u{2502}\n", line.iter().collect::<String>()))
        .collect();
    vec![
        ("plain", sentence.to_owned()),
        ("json", format!("API Error: 400 {inner}")),
        (
            "python",
            format!(
                "BadRequestError: Error code: 400 - {{'error': {{'message': '{python}', 'type': 'invalid_request_error', 'param': None}}}}"
            ),
        ),
        (
            "twice",
            format!("{{\"error\":{{\"code\":400,\"message\":{},\"status\":\"INVALID_ARGUMENT\"}}}}", json(&inner)),
        ),
        (
            "router",
            format!(
                "{{\"error\":{{\"message\":\"Provider returned error\",\"code\":400,\"metadata\":{{\"raw\":{},\"provider_name\":\"Google\"}}}}}}",
                json(&inner)
            ),
        ),
        ("bytes", format!("litellm.BadRequestError: VertexAIException - b'{}'", inner.replace('\'', "\\'"))),
        ("java", format!("400 Bad Request: {{type=error, error={{type=invalid_request_error, message={sentence}}}}}")),
        (
            "service",
            format!(
                "An error occurred (ValidationException) when calling the Converse operation: {sentence} (Service: BedrockRuntime, Status Code: 400)"
            ),
        ),
        ("box", format!("\u{256d}\u{2500}\u{2500}\u{256e}\n{in_box}\u{2570}\u{2500}\u{2500}\u{256f}")),
        ("html", sentence.replace('&', "&amp;").replace('<', "&lt;").replace('\'', "&#39;").replace('"', "&quot;")),
        (
            "stack",
            format!(
                "Error: 400 {}\n    at D6.generate (file:///home/me/cli.js:942:2414)\n    at async D6 (cli.js:961:2101)",
                inner.replace('"', "\\\"")
            ),
        ),
    ]
}

/// The first finding of a rule in its own bad example.
fn fault_of(rule: &'static Rule) -> Option<Finding> {
    let reading = detected(rule.bad);
    let all = Table { deny: vec!["all".into()], ..Table::default() };
    let findings = Inspection::default().examine_all(&reading, &verdicts(&all), rule.bad);
    findings.into_iter().find(|finding| finding.rule.code == rule.code)
}

/// The id in the excerpt of a finding that a provider would repeat.
fn id_in(text: &str) -> &str {
    let starts = ["srvtoolu_1", "toolu_1", "call_1", "rs_1", "fc_1", "msg_1"];
    starts.into_iter().find(|id| text.contains(id)).unwrap_or("x")
}

#[test]
fn every_answer_leads_to_its_rule_and_line_however_it_is_quoted() {
    let mut wrong = Vec::new();
    let mut all = 0;
    for rule in ALL {
        let Some(fault) = fault_of(rule) else { continue };
        let native = constraints().iter().filter(|row| row.rule == Some(rule.code));
        let dialect = detected(rule.bad);
        let document = dialect.parse(rule.bad);
        let name =
            document.ok().and_then(|document| Some(dialect.transcripts_or_none(&document).ok()?.first()?.0.name()));
        for row in native.filter(|row| Some(row.provider) == name) {
            let sentence = filled(row, fault.at.message.unwrap_or(fault.at.line - 1), id_in(rule.bad));
            for (way, text) in quoted(&sentence) {
                all += 1;
                let findings = found(&text, rule.bad);
                let is_right = findings.iter().any(|finding| {
                    finding.rule.code == rule.code
                        && (finding.at.line == fault.at.line
                            || finding.other.as_ref().is_some_and(|other| other.line == fault.at.line))
                });
                if !is_right {
                    wrong.push(format!(
                        "{} {way}: {sentence}: {:?}",
                        rule.code,
                        findings.iter().map(|finding| (finding.rule.code, finding.at.line)).collect::<Vec<_>>()
                    ));
                }
            }
        }
    }
    assert!(all > 400, "{all}");
    assert!(wrong.is_empty(), "{} of {all}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_is_not_about_the_transcript_is_said_to_be() {
    for row in constraints().iter().filter(|row| row.rule.is_none()) {
        let sentence = filled(row, 3, "x");
        // Every way is tried on the answers about transcripts; here, the plain one and one in JSON.
        for (way, text) in quoted(&sentence).into_iter().take(2) {
            let diagnosis = Answer::read(&text).unrelated();
            assert!(matches!(diagnosis, Some(Diagnosis::Unrelated(_))), "{way}: {text}: {diagnosis:?}");
        }
    }
}

#[test]
fn what_no_provider_says_is_unknown() {
    for text in ["the weather is fine", "TypeError: Cannot read properties of undefined (reading 'content')", ""] {
        let diagnosis = Answer::read(text).unrelated();
        let Some(Diagnosis::Unknown(nearest)) = diagnosis else { panic!("{text}: {diagnosis:?}") };
        assert_eq!(nearest.len(), 3);
    }
}

/// A screen cuts a line off in the middle of a word.
#[test]
fn the_beginning_of_an_answer_is_enough() {
    let chat = r#"{"role":"user","content":"Rain?"}
{"role":"assistant","content":[{"type":"tool_use","id":"toolu_7","name":"weather","input":{}}]}
{"role":"user","content":"Well?"}
{"role":"assistant","content":[{"type":"text","text":"Yes."}]}
"#;
    for text in [
        "API Error: 400 messages.1: `tool_use` ids were found without `tool_re…",
        "messages.1: `tool_use` ids were fou... (truncated)",
    ] {
        assert_eq!(
            found(text, chat).first().map(|finding| (finding.rule.code, finding.at.line)),
            Some(("P002", 2)),
            "{text}"
        );
    }
}

#[test]
fn an_answer_about_the_length_of_the_context_means_no_rule() {
    for rest in ["", " Please reduce the length of the messages."] {
        let words =
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.";
        let Some(Diagnosis::Unrelated(row)) = Answer::read(&format!("{words}{rest}")).unrelated() else {
            panic!("{rest}")
        };
        assert_eq!(row.what, "the length of the context");
    }
}
