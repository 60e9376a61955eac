//! What a person asked last stays with the round that answers it, and a cut that would ask nothing fails.

use crate::program::{Place, run, text};

/// An OpenAI chat: instructions, earlier turns, a question, and a call whose result has `words` words.
fn in_flight(words: usize) -> [String; 6] {
    let result = "row ".repeat(words);
    [
        String::from(r#"{"role":"system","content":"Answer from the ledger."}"#),
        String::from(r#"{"role":"user","content":"Good morning."}"#),
        String::from(r#"{"role":"assistant","content":"Good morning."}"#),
        String::from(r#"{"role":"user","content":"What is the sum of March?"}"#),
        String::from(
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ledger","arguments":"{}"}}]}"#,
        ),
        format!(r#"{{"role":"tool","tool_call_id":"c1","content":"{result}"}}"#),
    ]
}

/// The exit status, the lines of standard output, and standard error.
fn cut(arguments: &[&str], input: &[String]) -> (i32, Vec<String>, String) {
    let done = run(arguments, &input.join("\n"));
    let lines = text(&done.stdout).lines().map(str::to_owned).collect();
    (done.status.code().expect("an exit status"), lines, text(&done.stderr))
}

#[test]
fn a_large_result_leaves_its_question_or_fails() {
    let chat = in_flight(900);
    let (status, out, err) = cut(&["limit", "-t", "500"], &chat);
    assert_eq!((status, out.len()), (2, 0), "{err}");
    let needed = err.split("it needs ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a number");
    let enough: usize = needed.replace(',', "").parse().expect("a number");
    let kept = [&chat[..1], &chat[3..]].concat();
    assert_eq!(cut(&["limit", "-t", &enough.to_string()], &chat).1, kept, "the budget that it names is enough");
    assert_eq!(cut(&["limit", "-t", &(enough - 1).to_string()], &chat).0, 2, "and the smallest");
    let (_, _, err) = cut(&["limit", "-t", "500", "--reserve", "100"], &chat);
    let with_reserve = format!("it needs {} tokens with what belongs to it and the reserve of 100,", enough + 100);
    assert!(err.contains(&with_reserve), "{err}");
    for pin in ["system", "system,first-user", "last-user"] {
        let (status, out, err) = cut(&["limit", "-t", "500", "--on-overflow", "truncate", "--pin", pin], &chat);
        let start = usize::from(pin.contains("first"));
        assert_eq!(status, 0, "{pin}: {err}");
        let expected = [&chat[..1], &chat[1..=start], &chat[3..5]].concat();
        assert_eq!(out[..out.len() - 1], expected, "{pin}");
        assert!(out[out.len() - 1].contains("shortened") && out[out.len() - 1].len() < chat[5].len(), "{out:?}");
    }
    assert_eq!(cut(&["limit", "-t", "500", "--on-overflow", "keep-newest"], &chat).1, kept);
    let (status, out, err) = cut(&["limit", "-t", "500", "--on-overflow", "empty"], &chat);
    assert_eq!((status, out.as_slice()), (0, &chat[..1]), "{err}");
}

/// What stands beside a text and has no type in the format is counted, and stays: only the text becomes shorter.
#[test]
fn a_text_is_shortened_to_what_is_left_beside_what_is_estimated() {
    let text_block = "plums and pears, ".repeat(200);
    let note = "some thing of ".repeat(70);
    let chat = format!(
        r#"{{"messages":[{{"role":"user","content":[{{"type":"text","text":"{text_block}","x_note":"{note}"}}]}}]}}"#
    );
    let truncated =
        |budget: &str| cut(&["limit", "-t", budget, "--on-overflow", "truncate"], std::slice::from_ref(&chat));
    for budget in ["250", "300", "500"] {
        let (status, out, err) = truncated(budget);
        assert!(status == 0 && out[0].contains("shortened"), "{budget}: {err}");
        let counted = run(&["count", "--output-format", "json"], &out.join("\n"));
        let counted: serde_json::Value = serde_json::from_slice(&counted.stdout).expect("JSON");
        let most: u64 = budget.parse().expect("a number");
        let tokens = counted["tokens"].as_u64().expect("a number");
        assert!(tokens <= most && tokens + 20 > most, "{tokens} of {budget}");
    }
    let (status, out, err) = truncated("200");
    assert_eq!((status, out.len()), (2, 0), "{err}");
}

#[test]
fn windows_and_filters_keep_the_question_with_its_round() {
    let chat = in_flight(3);
    let kept = [&chat[..1], &chat[3..]].concat();
    for arguments in [
        &["window", "-n", "2", "--cap-in-flight", "--max-expansion", "1"][..],
        &["window", "--strategy", "sliding", "-n", "4"],
        &["filter", "--range", "4.."],
        &["filter", "--drop", "1..4"],
        &["filter", "--role", "system,assistant,tool", "--drop", "2"],
    ] {
        let (status, out, err) = cut(arguments, &chat);
        assert_eq!((status, &out), (0, &kept), "{arguments:?}: {err}");
    }
    let bare =
        [&["window", "--strategy", "sliding", "-n", "3", "--pin", "none", "--preserve-system"][..], &[]].concat();
    assert_eq!(cut(&bare, &chat).1, [&chat[..1], &chat[4..]].concat());
    // Where the round is dropped, so is its question.
    assert_eq!(cut(&["filter", "--drop", "3.."], &chat).1, chat[..3]);
    assert_eq!(cut(&["filter", "--pin", "none", "--range", "4.."], &chat).1, [&chat[..1], &chat[4..]].concat());
}

/// One long run of an agent, in three formats whose providers want the user first.
#[test]
fn a_limit_begins_with_the_user_where_the_provider_requires_it() {
    let line = "line ".repeat(30);
    let gemini = |nth: usize| {
        [
            format!(r#"{{"role":"model","parts":[{{"functionCall":{{"id":"f{nth}","name":"run","args":{{}}}}}}]}}"#),
            format!(
                r#"{{"role":"user","parts":[{{"functionResponse":{{"id":"f{nth}","name":"run","response":{{"output":"{line}"}}}}}}]}}"#
            ),
        ]
    };
    let anthropic = |nth: usize| {
        [
            format!(
                r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"t{nth}","name":"run","input":{{}}}}]}}"#
            ),
            format!(
                r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{nth}","content":"{line}"}}]}}"#
            ),
        ]
    };
    let bedrock = |nth: usize| {
        [
            format!(
                r#"{{"role":"assistant","content":[{{"toolUse":{{"toolUseId":"t{nth}","name":"run","input":{{}}}}}}]}}"#
            ),
            format!(
                r#"{{"role":"user","content":[{{"toolResult":{{"toolUseId":"t{nth}","content":[{{"text":"{line}"}}]}}}}]}}"#
            ),
        ]
    };
    let rounds = |round: &dyn Fn(usize) -> [String; 2]| (0..8).flat_map(round).collect::<Vec<_>>();
    for (dialect, asked, rounds, answer) in [
        (
            "gemini",
            r#"{"role":"user","parts":[{"text":"Mend it."}]}"#,
            rounds(&gemini),
            r#"{"role":"model","parts":[{"text":"Done."}]}"#,
        ),
        (
            "anthropic",
            r#"{"role":"user","content":"Mend it."}"#,
            rounds(&anthropic),
            r#"{"role":"assistant","content":"Done."}"#,
        ),
        (
            "bedrock",
            r#"{"role":"user","content":[{"text":"Mend it."}]}"#,
            rounds(&bedrock),
            r#"{"role":"assistant","content":[{"text":"Done."}]}"#,
        ),
    ] {
        let log = [&[asked.to_owned()][..], &rounds].concat();
        let (status, out, err) = cut(&["limit", "-t", "150", "--dialect", dialect], &log);
        assert_eq!((status, out.first().map(String::as_str)), (0, Some(asked)), "{dialect}: {err}");
        assert!(out.len() > 2 && out.len() < log.len() && out.len() % 2 == 1, "{dialect}: {out:?}");
        // After the answer, the next question comes first, and not the answer to the last one.
        let next = [&log[..], &[answer.to_owned(), asked.to_owned(), answer.to_owned()]].concat();
        let (status, out, err) = cut(&["limit", "-t", "150", "--dialect", dialect], &next);
        assert_eq!((status, out.as_slice()), (0, &next[18..]), "{dialect}: {err}");
    }
}

#[test]
fn no_cut_leaves_nothing_unless_its_flags_name_what_goes() {
    let calls = &in_flight(3)[4..];
    for arguments in [&["filter"][..], &["limit", "-t", "2"]] {
        let (status, out, err) = cut(arguments, calls);
        assert_eq!((status, out.len()), (2, 0), "{arguments:?}: {err}");
    }
    for arguments in
        [&["filter", "-x", "*"][..], &["filter", "--drop", "0.."], &["limit", "-t", "2", "--on-overflow", "empty"]]
    {
        assert_eq!(cut(arguments, calls).0, 0, "{arguments:?}");
    }
}

/// In a batch of records, `--on-error` decides, and the rejects say why.
#[test]
fn records_that_would_ask_nothing_are_rejected() {
    let place = Place::new();
    let record = |words: usize| format!("{{\"messages\":[{}]}}\n", in_flight(words).join(","));
    place.write("in.jsonl", format!("{}{}", record(3), record(900)).as_bytes());
    let limit = ["limit", "-t", "100", "in.jsonl", "-o", "out.jsonl", "--on-error", "skip", "--rejects", "bad.jsonl"];
    let done = place.curtail(&limit).output().expect("it runs");
    assert_eq!(done.status.code(), Some(0));
    assert_eq!(place.read("out.jsonl"), record(3).into_bytes());
    let rejects = String::from_utf8(place.read("bad.jsonl")).expect("UTF-8");
    assert!(rejects.contains("\"line\":2") && rejects.contains("the last message that a person wrote"), "{rejects}");
}

/// Pinned messages can stand beside others of their side: where turns have to alternate, a note says so.
#[test]
fn messages_of_one_side_in_a_row_are_said() {
    let spoken = ["Plan the garden.", "Begun.", "More roses.", "Planted.", "Go on.", "Done."];
    let bedrock = |(nth, text): (usize, &&str)| {
        let role = ["user", "assistant"][nth % 2];
        format!(r#"{{"role":"{role}","content":[{{"text":"{text}"}}]}}"#)
    };
    let sharegpt = |(nth, text): (usize, &&str)| {
        let from = ["human", "gpt"][nth % 2];
        format!(r#"{{"from":"{from}","value":"{text}"}}"#)
    };
    let openai = |(nth, text): (usize, &&str)| {
        let role = ["user", "assistant"][nth % 2];
        format!(r#"{{"role":"{role}","content":"{text}"}}"#)
    };
    let all = |line: &dyn Fn((usize, &&str)) -> String| spoken.iter().enumerate().map(line).collect::<Vec<_>>();
    let sides = "messages 0 and 4 are of one side and now follow each other";
    for (dialect, log, is_said) in
        [("bedrock", all(&bedrock), true), ("sharegpt", all(&sharegpt), true), ("openai", all(&openai), false)]
    {
        let window = ["window", "-n", "2", "--pin", "system,first-user", "--dialect", dialect];
        let (status, out, err) = cut(&window, &log);
        assert_eq!((status, out.len(), err.contains(sides)), (0, 3, is_said), "{dialect}: {err}");
        // They stood there before the second run.
        assert_eq!(cut(&window, &out).2, "", "{dialect}");
    }
}
