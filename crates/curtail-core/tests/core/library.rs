//! The library as its users see it: texts and values in, texts and values out, errors with their place.

use curtail_core::{
    Action, Checker, Cutter, Error, Framing, LimitPolicy, Overflow, PartEdit, Policy, Role, Source, StripKind,
    ToolPolicy, TranscriptView, WindowPolicy, check,
};
use serde_json::{Value, json};

type Refusal = Box<dyn std::error::Error + Send + Sync>;

/// A policy that is a function.
struct ClosurePolicy<F>(F);

impl<F: Fn(&TranscriptView<'_>) -> Result<Vec<Action>, Refusal> + Send + Sync> Policy for ClosurePolicy<F> {
    fn name(&self) -> &'static str {
        "own"
    }

    fn decide(&self, transcript: &TranscriptView<'_>) -> Result<Vec<Action>, Refusal> {
        (self.0)(transcript)
    }
}

fn round() -> Vec<Value> {
    let calls = json!([
        {"id": "1", "type": "function", "function": {"name": "timetable", "arguments": "{}"}},
        {"id": "2", "type": "function", "function": {"name": "weather", "arguments": "{}"}},
    ]);
    vec![
        json!({"role": "user", "content": "When does it leave, and does it rain?"}),
        json!({"role": "assistant", "content": null, "tool_calls": calls}),
        json!({"role": "tool", "tool_call_id": "1", "content": "05:12"}),
        json!({"role": "tool", "tool_call_id": "2", "content": "sun"}),
        json!({"role": "assistant", "content": "At 05:12, in the sun. 1e2 \"quoted\" é"}),
    ]
}

#[test]
fn values_that_are_kept_are_those_that_were_given() {
    let window_of_40 = Cutter::builder().window(WindowPolicy::last(40)).build().unwrap();
    assert_eq!(window_of_40.cut_values(&round()).unwrap().0, round());
    assert_eq!(window_of_40.cut_values(&[]).unwrap().0, Vec::<Value>::new());
    let without_weather = Cutter::builder().tools(ToolPolicy::drop_named(["weather"])).build().unwrap();
    let (cut, report) = without_weather.cut_values(&round()).unwrap();
    assert_eq!((report.messages_before, report.messages_after), (round().len(), cut.len()));
    let mut expected = round();
    expected.remove(3);
    expected[1]["tool_calls"].as_array_mut().unwrap().pop();
    assert_eq!(cut, expected);
}

/// Two values with the same JSON, one of which is dropped, and one that a policy writes.
#[test]
fn equal_values_and_new_ones_keep_their_order() {
    let ok = || json!({"role": "user", "content": "ok"});
    let values = vec![ok(), json!({"role": "user", "content": "no"}), ok()];
    let replace = |transcript: &TranscriptView<'_>| {
        let action = |at: usize| match at {
            0 => Action::Drop("first".into()),
            1 => Action::Replace { text: "yes".into(), reason: "second".into() },
            _ => Action::Keep,
        };
        let count = transcript.messages().len();
        Ok((0..count).map(|at| if count == 3 { action(at) } else { Action::Keep }).collect())
    };
    let cutter = Cutter::builder().policy(ClosurePolicy(replace)).build().unwrap();
    assert_eq!(cutter.cut_values(&values).unwrap().0, [json!({"role": "user", "content": "yes"}), ok()]);
}

/// A message that is replaced loses its calls and results, and what belongs to these.
#[test]
fn a_replaced_message_takes_its_counterparts_along() {
    let replaced = |actions: Vec<Action>, values: &[Value]| {
        let policy = move |transcript: &TranscriptView<'_>| {
            let count = transcript.messages().len();
            Ok(if count == actions.len() { actions.clone() } else { vec![Action::Keep; count] })
        };
        let cutter = Cutter::builder().policy(ClosurePolicy(policy)).build().unwrap();
        cutter.cut_values(values).unwrap().0
    };
    let short = || Action::Replace { text: "short".into(), reason: "long".into() };
    let drop = || Action::Drop("old".into());
    let said = |role: &str| json!({"role": role, "content": "short"});
    let round = round();
    let [asked, rain, answer] = [0, 2, 4].map(|nth: usize| round[nth].clone());
    let keep = Action::Keep;
    let of_call = replaced(vec![keep.clone(), short(), keep.clone(), keep.clone(), keep.clone()], &round);
    assert_eq!(of_call, [asked.clone(), said("assistant"), answer]);
    let spoken = json!({"role": "assistant", "content": "Let me look.", "tool_calls": [round[1]["tool_calls"][0]]});
    let beside = replaced(vec![keep.clone(), short(), drop()], &[asked.clone(), spoken, rain]);
    assert_eq!(beside, [asked, said("assistant")]);
    let of_result = vec![keep.clone(), keep.clone(), short(), keep.clone(), keep];
    let policy = move |_: &TranscriptView<'_>| Ok(of_result.clone());
    let error = Cutter::builder().policy(ClosurePolicy(policy)).build().unwrap().cut_values(&round).unwrap_err();
    assert!(error.to_string().ends_with("message 2, a tool message, by one that would answer no call"), "{error}");
}

#[test]
fn a_profile_is_the_name_of_a_provider() {
    let chat = r#"{"messages":[{"role":"user","content":"Rain?"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_1","content":"no"},{"role":"assistant","content":"No."}]}"#;
    let checker = Checker::builder().profile("mistral").build().unwrap();
    assert!(checker.check(chat).iter().any(|finding| finding.rule.name == "tool-use-id-format"));
    assert!(Checker::builder().profile("mistrall").build().is_err());
}

/// A message that loses a part, gets another text and is written next to new messages, in one pass.
#[test]
fn a_policy_cuts_rewrites_and_inserts_at_once() {
    let text = concat!(
        r#"{"role":"user","content":[{"type":"text","text":"long"},{"type":"text","text":"aside"}]}"#,
        "\n",
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"t","arguments":"{}"}}]}"#,
        "\n",
        r#"{"role":"tool","tool_call_id":"1","content":"05:12"}"#,
        "\n",
    );
    let note = |text: &str| Action::Insert { role: Role::User, text: text.into(), reason: "a note".into() };
    let policy = move |_: &TranscriptView<'_>| {
        let parts = vec![PartEdit::Rewrite(0, "short".into()), PartEdit::Cut(1)];
        let edit = Action::Edit { parts, reason: "shorter".into() };
        Ok(vec![note("first"), edit, Action::Keep, note("before the call"), Action::Keep, note("last")])
    };
    let cutter = Cutter::builder().policy(ClosurePolicy(policy)).build().unwrap();
    let mut cut = Vec::new();
    let report = cutter.write(text, &mut cut).unwrap();
    let said: Vec<String> = String::from_utf8(cut).unwrap().lines().map(ToOwned::to_owned).collect();
    let call = text.lines().nth(1).unwrap();
    let expected = [
        r#"{"role":"user","content":"first"}"#,
        r#"{"role":"user","content":[{"type":"text","text":"short"}]}"#,
        r#"{"role":"user","content":"before the call"}"#,
        call,
        r#"{"role":"tool","tool_call_id":"1","content":"05:12"}"#,
        r#"{"role":"user","content":"last"}"#,
    ];
    assert_eq!(said, expected);
    assert_eq!(report.messages_after, 6);
    let refusal = |actions: Vec<Action>| {
        let policy = move |_: &TranscriptView<'_>| Ok(actions.clone());
        Cutter::builder().policy(ClosurePolicy(policy)).build().unwrap().cut(text).unwrap_err().to_string()
    };
    let both = vec![PartEdit::Rewrite(0, "x".into()), PartEdit::Cut(0)];
    let both = Action::Edit { parts: both, reason: "y".into() };
    assert_eq!(refusal(vec![both, Action::Keep, Action::Keep]), "1:1: own: part 0 of message 0 is edited twice");
    let result = Action::Insert { role: Role::Tool, text: "x".into(), reason: "y".into() };
    assert_eq!(
        refusal(vec![result, Action::Keep, Action::Keep, Action::Keep]),
        "1:1: own: it inserts a tool message, which would answer no call"
    );
    // The result goes with its call, whatever its text.
    let seen = Action::Edit { parts: vec![PartEdit::Rewrite(0, "seen".into())], reason: "y".into() };
    let without_call = vec![Action::Keep, Action::Drop("y".into()), seen];
    let policy = move |transcript: &TranscriptView<'_>| {
        let count = transcript.messages().len();
        Ok(if count == 3 { without_call.clone() } else { vec![Action::Keep; count] })
    };
    let cut = Cutter::builder().policy(ClosurePolicy(policy)).build().unwrap().cut(text).unwrap();
    assert_eq!(cut.lines().collect::<Vec<_>>(), [text.lines().next().unwrap()]);
    let nobody = Cutter::builder().policy(ClosurePolicy(|_: &TranscriptView<'_>| {
        Ok(vec![Action::Insert { role: Role::User, text: "x".into(), reason: "y".into() }])
    }));
    let error = nobody.build().unwrap().cut(r#"{"messages":[]}"#).unwrap_err();
    assert!(error.to_string().ends_with("own: it inserts into a transcript without messages"), "{error}");
}

#[test]
fn every_framing_is_detected() {
    let [user, assistant] = [r#"{"role":"user","content":"a"}"#, r#"{"role":"assistant","content":"b"}"#];
    let cases = [
        (format!("{user}\n{assistant}\n"), Framing::Lines, 1),
        (format!("{{\"messages\":[{user},{assistant}]}}\n{{\"messages\":[{user}]}}\n"), Framing::Records, 2),
        (format!("{{\n\"messages\": [{user},\n{assistant}]}}"), Framing::Document, 1),
        (format!("[{user},{assistant}]"), Framing::Document, 1),
    ];
    let cutter = Cutter::builder().window(WindowPolicy::last(1).sliding()).build().unwrap();
    for (text, framing, transcripts) in cases {
        let source = Source::parse(&text).unwrap();
        assert_eq!((source.framing(), source.transcripts().unwrap().len()), (framing, transcripts), "{text}");
        let cut = cutter.cut(&text).unwrap();
        assert_eq!(cut.matches("\"role\"").count(), transcripts, "{cut}");
        assert_eq!(cutter.cut(&cut).unwrap(), cut);
    }
}

#[test]
fn an_error_says_where_and_whose_it_is() {
    let cutter = Cutter::builder().limit(LimitPolicy::tokens(2).on_overflow(Overflow::Error)).build().unwrap();
    let long = "{\"role\":\"user\",\"content\":\"far too long for a budget this small\"}\n";
    match cutter.cut(&format!("\n{long}")).unwrap_err() {
        Error::Policy { at, policy, .. } => assert_eq!((at.line, policy), (1, "limit")),
        other => panic!("{other:?}"),
    }
    let mut values = round();
    values.push(json!({"role": "assistant", "content": [{"type": "tool_use", "id": "3", "name": "x", "input": {}}]}));
    match Cutter::builder().build().unwrap().cut_values(&values).unwrap_err() {
        Error::Read { at, .. } => assert_eq!(at.line, 6, "the number of the value"),
        other => panic!("{other:?}"),
    }
    let no_decisions =
        Cutter::builder().policy(ClosurePolicy(|_: &TranscriptView<'_>| Ok(Vec::new()))).build().unwrap();
    assert_eq!(no_decisions.cut(long).unwrap_err().to_string(), "1:1: own: it decided about 0 of 1 messages");
    let refusing =
        Cutter::builder().policy(ClosurePolicy(|_: &TranscriptView<'_>| Err("not today".into()))).build().unwrap();
    let error = refusing.cut(long).unwrap_err();
    assert_eq!(std::error::Error::source(&error).map(ToString::to_string).as_deref(), Some("not today"));
    let cut = Action::Edit { parts: vec![PartEdit::Cut(7)], reason: String::new() };
    let missing_part =
        Cutter::builder().policy(ClosurePolicy(move |_: &TranscriptView<'_>| Ok(vec![cut.clone()]))).build().unwrap();
    assert_eq!(missing_part.cut(long).unwrap_err().to_string(), "1:1: own: message 0 has no part 7");
    let glob = Cutter::builder().tools(ToolPolicy::drop_named(["[a"])).build();
    assert!(matches!(glob, Err(Error::InvalidGlob { glob, .. }) if glob == "[a"));
}

/// A writer that fails: what was cut is not lost in silence.
#[test]
fn a_writer_that_fails_is_an_error() {
    let cutter = Cutter::builder().strip(StripKind::Media).build().unwrap();
    let mut small = [0; 4];
    let error = cutter.write("{\"role\":\"user\",\"content\":\"a\"}\n", &mut small[..]).unwrap_err();
    assert!(matches!(error, Error::Write(_)), "{error}");
}

#[test]
fn a_log_of_patches_that_makes_no_chat_is_a_finding_in_its_line() {
    let log = concat!(
        "{\"kind\":0,\"v\":{\"requests\":[]}}\n",
        "{\"kind\":1,\"k\":[\"nowhere\",\"x\"],\"v\":1}\n",
        "{\"kind\":1,\"k\":[\"requests\"],\"v\":[]}\n",
    );
    let findings = check(log);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!((findings[0].rule.name, findings[0].at.line), ("invalid-json", 2), "{findings:?}");
}

/// A text of two transcripts, of which the first is read again after the notes about its calls were written.
#[test]
fn explanations_follow_the_transcripts_of_a_text() {
    let with_calls = json!({"messages": round()}).to_string();
    let without_calls = r#"{"messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi"}]}"#;
    let cutter = Cutter::builder()
        .tools(ToolPolicy::drop_all().with_notes())
        .window(WindowPolicy::last(1).sliding())
        .build()
        .unwrap();
    let report = cutter.write(&format!("{with_calls}\n{without_calls}\n"), Vec::new()).unwrap();
    let said: Vec<(&str, Option<usize>)> = report.explanations.iter().map(|one| (one.policy, one.message)).collect();
    let of_first = said.iter().rposition(|(policy, _)| *policy == "filter").unwrap();
    let of_second = said.iter().rposition(|said| *said == ("window", Some(0))).unwrap();
    assert!(of_first < of_second && of_second == said.len() - 1, "{said:?}");
}

/// What a provider answers to another fault of the same rule is not its answer to this one.
#[test]
fn a_finding_has_the_answer_to_its_own_fault() {
    let chat = |arguments: &str| {
        let function = format!(r#"{{"name":"weather","arguments":{arguments}}}"#);
        let call = format!(r#"{{"id":"call_1","type":"function","function":{function}}}"#);
        let reply = format!(r#"{{"role":"assistant","content":null,"tool_calls":[{call}]}}"#);
        let result = r#"{"role":"tool","tool_call_id":"call_1","content":"rain"}"#;
        format!(r#"{{"model":"gpt-5","messages":[{{"role":"user","content":"Rain?"}},{reply},{result}]}}"#)
    };
    let answers = |arguments: &str| -> Vec<Option<&str>> {
        let found = check(&chat(arguments)).into_iter().filter(|finding| finding.rule.name == "invalid-arguments");
        found.map(|finding| finding.answer).collect()
    };
    assert_eq!(answers(r#""{\"city\":\"Os""#), [None]);
    assert!(matches!(answers("{}")[..], [Some(words)] if words.contains("expected a string, but got an object")));
}

/// Agents look at pictures with tools: the Responses API reads them in the output of a call, and chats do not.
#[test]
fn a_tool_may_show_an_image_to_the_responses_api() {
    let image = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAABLAAAAPoCAIAAAA=";
    let items = concat!(
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"What is on the map?"}]}"#,
        "\n",
        r#"{"type":"function_call","call_id":"call_1","name":"look","arguments":"{}"}"#,
        "\n",
        r#"{"type":"function_call_output","call_id":"call_1","output":[{"type":"input_image","image_url":"IMAGE"}]}"#,
        "\n",
    );
    let chat = concat!(
        r#"{"role":"user","content":"What is on the map?"}"#,
        "\n",
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"look","arguments":"{}"}}]}"#,
        "\n",
        r#"{"role":"tool","tool_call_id":"call_1","content":[{"type":"image_url","image_url":{"url":"IMAGE"}}]}"#,
        "\n",
    );
    let is_misplaced =
        |text: &str| check(&text.replace("IMAGE", image)).iter().any(|finding| finding.rule.name == "misplaced-media");
    assert!(!is_misplaced(items) && is_misplaced(chat));
}
