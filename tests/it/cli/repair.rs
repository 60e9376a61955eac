//! Repair on random broken transcripts: no fault is left, a second run changes nothing, and messages without a fault are
//! kept byte for byte.

use std::collections::HashSet;

use crate::program::{Place, run, text};
use crate::serializers::{SERIALIZERS, broken_script};
use curtail_core::dialects::{Row, assemble, dialect_named};
use curtail_core::json::{Document, Span};
use curtail_core::transcript::{Answers, Fault, FaultKind, Message, Pairs, PartRef, Style};
use proptest::prelude::*;

/// `None` if the program says which fault would be left or made, or that no message would be left, and writes nothing.
fn repaired(dialect: &str, mode: &str, pending: bool, text: &str) -> Option<String> {
    // Signed thoughts and figures after a change are dropped, which are laws of their own.
    let mut arguments = vec!["repair", "--mode", mode, "--framing", "lines", "--dialect", dialect];
    arguments.extend(["--thinking", "keep", "--usage", "keep"]);
    arguments.extend(pending.then_some("--pending"));
    let output = run(&arguments, text);
    let error = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let refusals = ["the repair leaves ", "a repair would make another fault: ", " would drop "];
        assert!(refusals.iter().any(|words| error.contains(words)) && output.stdout.is_empty(), "{error}");
        return None;
    }
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Calls `look` with the messages of a text, their pairs and their faults.
fn inspect<T>(dialect: &str, text: &str, look: impl FnOnce(&[Message<'_>], &Pairs, &[Fault]) -> T) -> T {
    let document = Document::parse_all(text).unwrap();
    let span = Span::new(0, u32::try_from(text.len()).unwrap());
    let row = Row {
        source: text,
        span,
        items: document.roots().collect(),
        style: Style::Lines,
        record: None,
        answers: Answers::default(),
    };
    let transcript = assemble(dialect_named(dialect).unwrap(), &row);
    let pairs = Pairs::from_messages(&transcript.messages);
    let faults = Fault::find_all(&transcript.messages, &pairs, transcript.layout.rules.pairing);
    look(&transcript.messages, &pairs, &faults)
}

fn id_of(messages: &[Message<'_>], at: PartRef) -> Option<String> {
    let content = &messages[at.message].parts[at.part].content;
    let id = content.call().map(|call| &call.id).or_else(|| content.result().map(|result| &result.id))?;
    id.as_ref().map(|id| id.decode().into_owned())
}

/// The messages that a fault may concern: those with a call or result that is broken or has the id of one, those bound to
/// them, and the counterparts of all these.
fn concerned(messages: &[Message<'_>], pairs: &Pairs, faults: &[Fault]) -> HashSet<usize> {
    let broken = faults.iter().flat_map(|fault| [Some(fault.at), fault.other]).flatten();
    let ids: HashSet<String> = broken.clone().filter_map(|at| id_of(messages, at)).collect();
    let mut concerned: HashSet<usize> = broken.map(|at| at.message).collect();
    let halves = || pairs.calls().iter().chain(pairs.results());
    concerned
        .extend(halves().filter(|at| id_of(messages, **at).is_some_and(|id| ids.contains(&id))).map(|at| at.message));
    loop {
        let before = concerned.len();
        for (call, result) in pairs.pairs().filter(|_| before > 0) {
            if concerned.contains(&call.message) || concerned.contains(&result.message) {
                concerned.extend([call.message, result.message]);
            }
        }
        // A program and its calls go together, and so do the calls of a reply that were thought of together.
        for (call, other) in pairs.calls().iter().flat_map(|&call| pairs.program(call).map(move |other| (call, other)))
        {
            if before > 0 && (concerned.contains(&call.message) || concerned.contains(&other.message)) {
                concerned.extend([call.message, other.message]);
            }
        }
        for at in 1..messages.len() {
            if messages[at - 1].is_bound() && (concerned.contains(&at) || concerned.contains(&(at - 1))) {
                concerned.extend([at - 1, at]);
            }
        }
        if concerned.len() == before {
            return concerned;
        }
    }
}

/// A record without its link to the one before it, or its number: both are updated if that one is dropped.
fn unlinked(line: &str) -> String {
    let Some(start) = ["\"parent", "\"step_id\""].iter().find_map(|key| line.find(key)) else { return line.to_owned() };
    let end = line[start..].find(',').map_or(line.len(), |comma| start + comma);
    [&line[..start], &line[end..]].concat()
}

proptest! {
    #![proptest_config(crate::properties::property(96))]

    #[test]
    fn repair_mends_what_is_broken_and_nothing_else(
        script in broken_script(),
        serializer in prop::sample::select(SERIALIZERS),
        mode in prop::sample::select(&["drop", "stub", "move"][..]),
        pending in any::<bool>(),
    ) {
        let text: String = (serializer.1)(&script).iter().map(|item| format!("{item}\n")).collect();
        let mended = repaired(serializer.0, mode, pending, &text);
        // Few are refused: among too many, the test fails.
        prop_assume!(mended.is_some());
        let mended = mended.unwrap_or_default();
        let faults = inspect(serializer.0, &mended, |_, _, faults| faults.to_vec());
        let tolerated = |fault: &Fault| fault.kind == FaultKind::PendingCall && !pending;
        prop_assert!(faults.iter().all(tolerated), "{faults:?} left by {mode}\nin  {text}\nout {mended}");
        let twice = repaired(serializer.0, mode, pending, &mended);
        prop_assert_eq!(twice.as_ref(), Some(&mended), "twice is not once, in {}", text);
        prop_assert!(mode == "stub" || mended.len() <= text.len(), "{mode} made it bigger");
        if mode != "drop" {
            return Ok(());
        }
        // Answers that are moved or written are put into messages that no fault is about: dropping changes no others.
        let untouched = inspect(serializer.0, &text, |messages, pairs, faults| {
            let concerned = concerned(messages, pairs, faults);
            let whole = messages.iter().enumerate().filter(|(at, _)| !concerned.contains(at));
            whole.filter_map(|(_, message)| message.value()).map(|value| value.raw().to_owned()).collect::<Vec<_>>()
        });
        let mut lines = mended.lines();
        for line in untouched {
            prop_assert!(lines.any(|mended| unlinked(mended) == unlinked(&line)), "{line} is not as it was\nin  {text}\nout {mended}");
        }
    }
}

#[test]
fn a_profile_repairs_what_the_provider_would_reject() {
    let place = Place::new();
    // The Responses API takes the result wherever it is; Anthropic wants it in the next message.
    let items = concat!(
        r#"{"type":"message","role":"user","content":"When does it leave?"}"#,
        "\n",
        r#"{"type":"function_call","call_id":"c1","name":"timetable","arguments":"{}"}"#,
        "\n",
        r#"{"type":"message","role":"user","content":"Are you there?"}"#,
        "\n",
        r#"{"type":"function_call_output","call_id":"c1","output":"05:12"}"#,
        "\n",
        r#"{"type":"message","role":"assistant","content":"At 05:12."}"#,
        "\n",
    );
    place.write("a.jsonl", items.as_bytes());
    let out = |arguments: &[&str]| text(&place.curtail(arguments).output().unwrap().stdout);
    assert_eq!(out(&["repair", "a.jsonl"]), items, "nothing is wrong where it was written");
    for (mode, calls) in [("drop", 0), ("stub", 0), ("move", 1)] {
        let repaired = out(&["repair", "--profile", "anthropic", "--mode", mode, "a.jsonl"]);
        assert_eq!(repaired.matches("\"function_call\"").count(), calls, "{mode}: {repaired}");
        place.write("b.jsonl", repaired.as_bytes());
        let pairing = ["check", "--profile", "anthropic", "-A", "all", "-D", "pairing", "b.jsonl"];
        let done = place.curtail(&pairing).output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{mode}: {}", text(&done.stdout));
        assert_eq!(out(&["repair", "--profile", "anthropic", "--mode", mode, "b.jsonl"]), repaired, "twice is once");
    }
    let fixed =
        place.curtail(&["check", "--profile", "anthropic", "--fix=move", "-A", "all", "-D", "pairing", "a.jsonl"]);
    assert_eq!({ fixed }.output().unwrap().status.code(), Some(0));
    assert!(text(&place.read("a.jsonl")).contains("05:12"));
    let done = place.curtail(&["repair", "--profile", "antropic", "b.jsonl"]).output().unwrap();
    let stderr = text(&done.stderr);
    assert!(done.status.code() == Some(2) && stderr.contains("did you mean `anthropic`?"), "{stderr}");
}

/// What stands in a list inside a line is another history: a result for the call before it belongs in front of that line.
#[test]
fn a_stub_stays_out_of_the_history_of_a_compaction() {
    let call = r#"{"timestamp":"2026-04-11T08:01:07.000Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}","call_id":"call_8a"}}"#;
    let compacted = r#"{"timestamp":"2026-04-11T08:01:08.000Z","type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Half of it is woven."}]}]}}"#;
    let reply = r#"{"timestamp":"2026-04-11T08:01:12.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}"#;
    let text = format!("{call}\n{compacted}\n{reply}\n");
    for mode in ["stub", "move"] {
        let once = repaired("codex", mode, false, &text).unwrap();
        assert!(once.ends_with(&format!("{compacted}\n{reply}\n")), "{mode}: {once}");
        assert_eq!(inspect("codex", &once, |_, _, faults| faults.len()), 0, "{mode}: {once}");
        assert_eq!(repaired("codex", mode, false, &once).unwrap(), once, "{mode}");
    }
    let stubbed = repaired("codex", "stub", false, &text).unwrap();
    let lines: Vec<&str> = stubbed.lines().collect();
    assert_eq!((lines.len(), lines[0]), (4, call));
    assert!(lines[1].contains("function_call_output") && lines[1].contains("call_8a"), "{stubbed}");
}

/// Transcripts in variants of formats, each with a call `b` that has no result, and how its stub begins.
const VARIANTS: &[(&str, &str)] = &[
    (
        r#"{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","name":"f","arguments":{},"requestor":"assistant"}]},{"id":"a","role":"tool","content":"r","requestor":"assistant","error":false},{"role":"assistant","content":null,"tool_calls":[{"id":"b","name":"f","arguments":{},"requestor":"assistant"}]},{"role":"user","content":"y"}]}"#,
        r#"{"id":"b","role":"tool","content":"[interrupted"#,
    ),
    (
        r#"{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"b","name":"f","arguments":{},"requestor":"assistant"}]},{"role":"user","content":"y"}]}"#,
        r#"{"id":"b","role":"tool","content":"[interrupted"#,
    ),
    (
        r#"{"history":[{"role":"user","content":"x"},{"role":"assistant","content":"A.","tool_calls":[{"function":{"arguments":"{}","name":"ls"},"id":"a","type":"function"}]},{"role":"tool","content":"r","tool_call_ids":["a"]},{"role":"assistant","content":"B.","tool_calls":[{"function":{"arguments":"{}","name":"ls"},"id":"b","type":"function"}]},{"role":"user","content":"y"}]}"#,
        r#""tool_call_ids":["b"],"content":"[interrupted"#,
    ),
    (
        concat!(
            r#"{"type":"message","role":"user","content":"x"}"#,
            "\n",
            r#"{"type":"function_call","callId":"b","name":"f","arguments":"{}"}"#,
            "\n",
            r#"{"type":"message","role":"user","content":"y"}"#,
        ),
        r#"{"type":"function_call_result","name":"f","callId":"b","#,
    ),
    (
        concat!(
            r#"{"role":"user","parts":[{"text":"x"}]}"#,
            "\n",
            r#"{"role":"model","parts":[{"function_call":{"id":"b","name":"f","args":{}}}]}"#,
            "\n",
            r#"{"role":"model","parts":[{"text":"y"}]}"#,
        ),
        r#"{"function_response":{"id":"b","#,
    ),
    (
        concat!(
            r#"{"role":"user","parts":[{"text":"x"}]}"#,
            "\n",
            r#"{"role":"model","parts":[{"function_call":{"id":"a","name":"f","args":{}}},{"function_call":{"id":"b","name":"f","args":{}}}]}"#,
            "\n",
            r#"{"role":"user","parts":[{"function_response":{"id":"a","name":"f","response":{"result":"r"}}}]}"#,
            "\n",
            r#"{"role":"model","parts":[{"text":"y"}]}"#,
        ),
        r#"{"function_response":{"id":"b","#,
    ),
    (
        r#"{"schema_version":"ATIF-v1.4","session_id":"s","agent":{"name":"a","version":"1"},"steps":[{"step_id":1,"source":"user","message":"x"},{"step_id":2,"source":"agent","message":"","tool_calls":[{"tool_call_id":"a","function_name":"f","arguments":{}},{"tool_call_id":"b","function_name":"f","arguments":{}}],"observation":{"results":[{"tool_call_id":"a","content":"r"}]}},{"step_id":3,"source":"user","message":"y"}]}"#,
        r#"{"tool_call_id":"b","content":"[interrupted"#,
    ),
    (
        concat!(
            r#"{"type":"message","session_id":"d","role":"user","text":"x","id":"m1"}"#,
            "\n",
            r#"{"type":"tool_call","session_id":"d","toolName":"Shell","parameters":{},"id":"b"}"#,
            "\n",
            r#"{"type":"message","session_id":"d","role":"user","text":"y","id":"m2"}"#,
        ),
        r#","id":"b","toolId":"Shell","#,
    ),
];

/// Some formats have several keys for the same thing. A reader of one variant looks under its own key only, so a stub has the
/// one that the other results of the transcript have.
#[test]
fn a_stub_names_its_call_as_the_other_results_do() {
    for (input, stub) in VARIANTS {
        let done = run(&["repair", "--mode", "stub"], input);
        let repaired = text(&done.stdout);
        assert!(repaired.contains(stub), "{stub} is not in {repaired}{}", text(&done.stderr));
        assert_eq!(text(&run(&["repair", "--mode", "stub"], &repaired).stdout), repaired);
    }
}

/// No provider pairs what has no id, so no mode of repair leaves it, and what has one keeps its bytes.
#[test]
fn calls_and_results_without_ids_are_dropped() {
    let ask = r#"{"role":"user","content":"Is it raining?"}"#;
    let call = |id: &str| {
        format!(
            r#"{{"role":"assistant","content":null,"tool_calls":[{{{id}"type":"function","function":{{"name":"f","arguments":"{{}}"}}}}]}}"#
        )
    };
    let [named, nameless, empty] = [r#""id":"c1","#, "", r#""id":"","#].map(call);
    let result = r#"{"role":"tool","tool_call_id":"c1","content":"rain"}"#;
    let lone = r#"{"role":"tool","content":"sun"}"#;
    let says = r#"{"role":"assistant","content":"It is."}"#;
    let uses =
        r#"{"role":"assistant","content":[{"type":"text","text":"Look."},{"type":"tool_use","name":"f","input":{}}]}"#;
    let answers = r#"{"role":"user","content":[{"type":"tool_result","content":"rain"}]}"#;
    let blocks = r#"{"role":"assistant","content":[{"type":"text","text":"Done."}]}"#;
    let cases: [(&[&str], &[&str]); 6] = [
        (&[ask, &nameless, lone, says], &[ask, says]),
        (&[ask, &empty, lone, says], &[ask, says]),
        (&[ask, &named, result, lone, says], &[ask, &named, result, says]),
        (&[ask, &nameless, result, says], &[ask, says]),
        (&[ask, says, ask, &nameless], &[ask, says, ask]),
        (
            &[ask, uses, answers, blocks],
            &[ask, r#"{"role":"assistant","content":[{"type":"text","text":"Look."}]}"#, blocks],
        ),
    ];
    let joined = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    for (broken, expected) in cases {
        let (broken, expected) = (joined(broken), joined(expected));
        for mode in ["drop", "stub", "move"] {
            let done = run(&["repair", "--mode", mode], &broken);
            assert_eq!((text(&done.stdout), done.status.code()), (expected.clone(), Some(0)), "{mode}: {broken}");
            let place = Place::new();
            place.write("chat.jsonl", broken.as_bytes());
            let fix = format!("--fix={mode}");
            let done = place.curtail(&["check", &fix, "chat.jsonl"]).output().unwrap();
            assert_eq!(text(&place.read("chat.jsonl")), expected, "{mode}: {}", text(&done.stdout));
        }
        // With the rule off, it is not repaired.
        let place = Place::new();
        place.write("chat.jsonl", joined(&[ask, &nameless, lone, says]).as_bytes());
        let allowed = place.curtail(&["check", "-A", "missing-id", "--fix", "chat.jsonl"]).output().unwrap();
        assert_eq!(text(&place.read("chat.jsonl")).lines().count(), 4, "{}", text(&allowed.stdout));
    }
}
