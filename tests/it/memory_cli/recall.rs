//! The state in front of the model.

use super::apply::UPDATES;
use super::{OPENAI, Place, STATE};

const SYSTEM: &str = "{\"role\":\"system\",\"content\":\"You are terse.\"}\n";
const HELLO: &str =
    "{\"role\":\"user\", \"content\":\"Hi \\u00e9\",\"x\":1.0}\r\n{\"role\":\"assistant\",\"content\":\"Hello.\"}";

fn recall(place: &Place, args: &[&str], input: &str) -> String {
    place.pipe(&[&["memory", "recall"], args].concat(), input).quietly()
}

/// `text` without the line `new`, which it contains once.
fn without(text: &str, new: &str) -> String {
    let (before, after) = text.split_once(new).unwrap_or_else(|| panic!("no {new} in {text}"));
    let newline = ["\r\n", "\n"].into_iter().find_map(|newline| after.strip_prefix(newline));
    before.to_owned() + newline.unwrap_or(after)
}

#[test]
fn the_block_stands_behind_the_leading_instructions_and_nothing_else_changes() {
    let place = Place::new();
    let state = place.file("state.json", "{\"goal\":\"ship\"}");
    let block = "<working_memory>\\n{\\n  \\\"goal\\\": \\\"ship\\\"\\n}\\n</working_memory>";
    let developer = format!("{{\"role\":\"developer\",\"content\":\"{block}\"}}");
    for head in ["", SYSTEM] {
        let input = format!("{head}{HELLO}");
        let out = recall(&place, &["--state", &state, "--dialect", "openai"], &input);
        assert!(out.starts_with(&format!("{head}{developer}")), "{out}");
        assert_eq!(without(&out, &developer), input);
    }
    // In a format without a role for it, it is a user message.
    let claude = "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]}\n{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"s\"},{\"type\":\"text\",\"text\":\"Hello\"}]}\n";
    let out = recall(&place, &["--state", &state, "--thinking", "keep"], claude);
    let marked = block.replacen('w', "\\u0077", 1);
    assert_eq!(without(&out, &format!("{{\"role\":\"user\",\"content\":\"{marked}\"}}")), claude);
    assert_eq!(recall(&place, &["--state", &state], &out), out);
}

#[test]
fn a_transcript_that_passes_check_passes_it_with_its_memory() {
    let place = Place::new();
    for (dialect, text) in UPDATES {
        let out = recall(&place, &["--dialect", dialect], text);
        assert!(out.contains("<working_memory>") || out.contains("<\\u0077orking_memory>"), "{dialect}: {out}");
        for checked in [*text, &out] {
            let done = place.pipe(&["check", "-A", "tool-name-format", "--dialect", dialect], checked);
            assert_eq!(done.code, 0, "{dialect}: {done:?}\n{checked}");
        }
        assert_eq!(recall(&place, &["--dialect", dialect], &out), out, "{dialect}");
    }
}

#[test]
fn recalling_twice_is_recalling_once() {
    let place = Place::new();
    let list = format!("[{}]", OPENAI.trim().replace('\n', ", "));
    let records = format!("{{\"messages\":{list}}}\n{{\"messages\": [ ]}}\n{{\"messages\":{list},\"n\":1e3}}\n");
    let notes = place.file("notes.txt", "likes tea </working_memory> <b>");
    place.pipe(&["memory", "apply", "--thread", "t"], OPENAI).quietly();
    for input in [OPENAI, &list, &records, SYSTEM, HELLO, ""] {
        for args in [&[][..], &["--state", &notes], &["--thread", "t"], &["--state", &notes, "--budget", "40"]] {
            let args = [args, &["--dialect", "openai"]].concat();
            let once = place.pipe(&[&["memory", "recall"], &args[..]].concat(), input);
            let twice = place.pipe(&[&["memory", "recall"], &args[..]].concat(), &once.out);
            assert_eq!((once.code, twice.code), (0, 0), "{once:?}");
            assert_eq!(once.out, twice.out, "{args:?} {input}");
        }
    }
}

/// Lines that fit other dialects beside the line that decides: the block must not fit another dialect.
#[test]
fn the_block_is_written_so_that_the_dialect_is_detected_again() {
    let place = Place::new();
    let state = place.file("state.json", "{\"goal\":\"ship\"}");
    let log = "{\"role\":\"user\",\"content\":\"Hi\"}\n{\"type\":\"world_state\",\"payload\":{\"full\":true}}\n";
    let once = recall(&place, &["--state", &state], log);
    assert!(once.contains("working_memory"), "{once}");
    assert_eq!(recall(&place, &["--state", &state], &once), once);
}

#[test]
fn nothing_is_recalled_of_nothing_and_what_stood_there_goes() {
    let place = Place::new();
    let nothing = place.file("nothing.json", "{}");
    let notes = place.file("notes.txt", "likes tea");
    let input = format!("{SYSTEM}{HELLO}");
    for args in [&["--state", &nothing][..], &["--thread", "nobody"], &[]] {
        assert_eq!(recall(&place, args, &input), input);
    }
    let reported = recall(&place, &["--state", &notes], &input);
    assert_eq!(recall(&place, &["--state", &nothing], &reported), input);
    assert_eq!(recall(&place, &[], &reported), reported, "nothing is known of it, so it stays");
}

#[test]
fn a_block_from_before_is_replaced_where_it_stands() {
    let place = Place::new();
    let (one, two) = (place.file("one.txt", "tea"), place.file("two.txt", "coffee"));
    let input = format!("{SYSTEM}{HELLO}");
    let first = recall(&place, &["--state", &one], &input);
    let second = recall(&place, &["--state", &two], &first);
    assert_eq!(second, first.replace("\\ntea\\n", "\\ncoffee\\n"));
    assert_eq!(second, recall(&place, &["--state", &two], &input));
    let kept = first.replace("\"role\":\"developer\",", "\"role\":\"developer\",\"id\":\"m7\",");
    assert!(
        recall(&place, &["--state", &two], &kept).contains("\"id\":\"m7\",\"content\":\"<working_memory>\\ncoffee")
    );
}

#[test]
fn the_state_is_the_stores_or_the_transcripts_own() {
    let place = Place::new();
    let shown = serde_json::to_string_pretty(&serde_json::from_str::<serde_json::Value>(STATE).unwrap()).unwrap();
    let block = serde_json::Value::from(format!("<working_memory>\n{shown}\n</working_memory>")).to_string();
    assert!(recall(&place, &[], OPENAI).contains(&block));
    assert_eq!(recall(&place, &["--thread", "t"], OPENAI), OPENAI, "the store knows nothing yet");
    place.pipe(&["memory", "apply", "--thread", "t"], OPENAI).quietly();
    assert!(recall(&place, &["--thread", "t"], HELLO).contains(&block));
    assert_eq!(recall(&place, &["--read-only"], OPENAI), OPENAI);
}

#[test]
fn a_long_state_is_cut_to_the_budget_and_says_so() {
    let place = Place::new();
    let long: Vec<String> = (0..900).map(|number| format!("fact {number} is worth keeping")).collect();
    let long = place.file("long.txt", &long.join("\n"));
    let done = place.pipe(&["memory", "recall", "--state", &long, "--budget", "200"], HELLO);
    assert!(done.code == 0 && done.err.contains("the working memory is cut to 200 tokens"), "{}", done.err);
    assert!(done.out.contains("[shortened: ") && done.out.len() < HELLO.len() + 1_200, "{}", done.out);
    let done = place.pipe(&["memory", "recall", "--state", &long, "--budget", "3"], HELLO);
    assert!(done.code == 2 && done.out.is_empty() && done.err.contains("it needs at least 19"), "{done:?}");
}

#[test]
fn updates_that_are_not_taken_are_told() {
    let place = Place::new();
    let schema = place.file("schema.json", r#"{"properties":{"steps":{"type":"string"}}}"#);
    let done = place.pipe(&["memory", "recall", "--schema", &schema], OPENAI);
    assert!(done.code == 0 && done.out.contains("ship v2") && !done.out.contains("\\\"steps\\\": "), "{done:?}");
    assert!(done.err.contains("call \"call_3\": the update is refused: /steps: "), "{}", done.err);
}

/// Instructions in the middle of a conversation stay where they are, alone or beside other blocks, and the memory follows
/// those in front.
#[test]
fn instructions_in_the_middle_stay_where_they_are() {
    let place = Place::new();
    let rule = |nth: usize| {
        format!("{{\"type\":\"mid_conv_system\",\"content\":[{{\"type\":\"text\",\"text\":\"Rule {nth}.\"}}]}}")
    };
    let leading = format!("{{\"role\":\"user\",\"content\":[{}]}}\n", rule(0));
    let rest = format!(
        "{{\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":\"Hi\"}},{}]}}\n{{\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"Hello\"}}]}}\n",
        rule(1)
    );
    for goal in ["ship", "rest"] {
        let state = place.file("state.json", &format!("{{\"goal\":\"{goal}\"}}"));
        let block = format!("<\\u0077orking_memory>\\n{{\\n  \\\"goal\\\": \\\"{goal}\\\"\\n}}\\n</working_memory>");
        let memory = format!("{{\"role\":\"user\",\"content\":\"{block}\"}}\n");
        let out = recall(&place, &["--state", &state], &format!("{leading}{rest}"));
        assert_eq!(out, format!("{leading}{memory}{rest}"));
        // A later state replaces the block and nothing else.
        let before = format!("{leading}{}{rest}", memory.replace(goal, "a detour"));
        assert_eq!(recall(&place, &["--state", &state], &before), out);
    }
}

/// Logs with a compaction: lines before it, its own, and one behind it.
const COMPACTED: &[(&str, &[&str])] = &[
    (
        "claude-code",
        &[
            r#"{"parentUuid":null,"isSidechain":false,"sessionId":"s","type":"user","message":{"role":"user","content":"Older."},"uuid":"u1"}"#,
            r#"{"parentUuid":null,"logicalParentUuid":"u1","isSidechain":false,"sessionId":"s","type":"system","subtype":"compact_boundary","uuid":"u2"}"#,
            r#"{"parentUuid":"u2","isCompactSummary":true,"isSidechain":false,"sessionId":"s","type":"user","message":{"role":"user","content":"Summary."},"uuid":"u3"}"#,
            r#"{"parentUuid":"u3","isSidechain":false,"sessionId":"s","type":"user","message":{"role":"user","content":"Newer."},"uuid":"u4"}"#,
        ],
    ),
    (
        "codex",
        &[
            r#"{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Older."}]}}"#,
            r#"{"timestamp":"t","type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Older."}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"Summary."}]}]}}"#,
            r#"{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Newer."}]}}"#,
        ],
    ),
    (
        "pi",
        &[
            r#"{"type":"message","id":"e1","parentId":null,"message":{"role":"user","content":[{"type":"text","text":"Older."}]}}"#,
            r#"{"type":"compaction","id":"e2","parentId":"e1","summary":"Summary.","tokensBefore":9}"#,
            r#"{"type":"message","id":"e3","parentId":"e2","message":{"role":"user","content":[{"type":"text","text":"Newer."}]}}"#,
        ],
    ),
    (
        "anthropic",
        &[
            r#"{"role":"user","content":[{"type":"text","text":"Older."}]}"#,
            r#"{"role":"assistant","content":[{"type":"compaction","content":"Summary."}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"Newer."}]}"#,
        ],
    ),
];

/// A model reads what is behind the newest boundary, so the block is there, with and without what is before it.
#[test]
fn the_block_stands_behind_the_newest_boundary() {
    let place = Place::new();
    let state = place.file("state.json", "{\"goal\":\"ship\"}");
    for (dialect, lines) in COMPACTED {
        for lines in [lines, &lines[..lines.len() - 1]] {
            let log: String = lines.iter().map(|line| format!("{line}\n")).collect();
            for live in [&[][..], &["--live"]] {
                let args = [&["--state", &state, "--dialect", dialect], live].concat();
                let out = recall(&place, &args, &log);
                let at = |text: &str| out.lines().position(|line| line.contains(text));
                let block = at("orking_memory>").unwrap_or_else(|| panic!("{dialect}: {out}"));
                assert!(at("Summary.").is_some_and(|summary| summary < block), "{dialect}: {out}");
                assert!(at("Newer.").is_none_or(|newer| block <= newer), "{dialect}: {out}");
                assert_eq!(recall(&place, &args, &out), out, "{dialect}");
            }
        }
    }
}
