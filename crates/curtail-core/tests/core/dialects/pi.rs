//! Logs of pi: entries that are numbered, and the entry that a program resumes from.

use curtail_core::dialects::Framing;
use curtail_core::pipeline::Chain;
use curtail_core::processors::MessageRange;

use super::files::cut;
use crate::laws::cases::persist;
use crate::laws::check::cut_with;

/// An older log of pi gives the number of the first entry that a compaction kept. Notes before it count, and a note in its place
/// is kept.
#[test]
fn notes_count_where_entries_are_numbered() {
    let entry = |entry: &str| format!("{{\"type\":\"message\",\"message\":{{{entry}}}}}\n");
    let calls = |id: &str| {
        let call = format!(r#"{{"type":"toolCall","id":"{id}","name":"knot","arguments":{{}}}}"#);
        entry(&format!(r#""role":"assistant","content":[{call}]"#))
    };
    let result = |id: &str| {
        entry(&format!(r#""role":"toolResult","toolCallId":"{id}","toolName":"knot","content":[],"isError":false"#))
    };
    let text = |role: &str| entry(&format!(r#""role":"{role}","content":[{{"type":"text","text":"rope"}}]"#));
    let header = "{\"type\":\"session\",\"version\":1,\"id\":\"s\",\"cwd\":\"/rope\"}\n".to_owned();
    let compacted = |first: usize| {
        format!(
            "{{\"type\":\"compaction\",\"summary\":\"A knot.\",\"firstKeptEntryIndex\":{first},\"tokensBefore\":9}}\n"
        )
    };
    let log = |first: usize| {
        let before = [header.clone(), text("user"), calls("c1"), result("c1"), calls("c2"), result("c2"), text("user")];
        before.concat() + &compacted(first) + &text("assistant")
    };
    for (first, noted) in [(1, 1), (2, 2), (4, 3), (6, 4)] {
        let out = cut_with(persist("*"), Some("pi"), Framing::Lines, &log(first)).unwrap();
        assert!(out.contains(&format!("\"firstKeptEntryIndex\":{noted},")), "{first}: {out}");
        assert_eq!(out.matches("Used knot tool").count(), 2, "{out}");
    }
}

/// pi would resume from a label of a branch if the messages behind it were dropped without it.
#[test]
fn a_label_of_a_branch_does_not_become_the_newest_entry() {
    let message = |id: &str, parent: &str, text: &str| {
        let message = format!(r#"{{"role":"user","content":[{{"type":"text","text":"{text}"}}]}}"#);
        format!(r#"{{"type":"message","id":"{id}","parentId":{parent},"message":{message}}}"#) + "\n"
    };
    let label = r#"{"type":"label","id":"l","parentId":"a","targetId":"a","label":"clay"}"#.to_owned() + "\n";
    let (before, newest) = (message("b", "\"a\"", "Throw a jug."), message("c", "\"b\"", "Fire it."));
    let log = [message("a", "null", "Knead the clay."), before.clone(), label.clone(), newest].concat();
    let out = cut(Chain::default().then(MessageRange { from: 0, to: Some(2), ..MessageRange::default() }), &log);
    assert!(out.ends_with(&before), "{out}");
    let out = cut(Chain::default().then(MessageRange { from: 2, to: None, ..MessageRange::default() }), &log);
    assert!(out.starts_with(&label.replace("\"parentId\":\"a\"", "\"parentId\":null")), "{out}");
}
