//! Conversations with boundaries among their messages, and how each message stands.

use std::collections::HashMap;

use curtail_core::dialects::Framing;
use curtail_core::json::Document;
use curtail_core::transcript::Standing;
use proptest::prelude::*;

use super::check::reading;
use crate::serializers::{
    Turn, anthropic, claude_code, codex, copilot, gemini, kimi, opencode, otel, pi, qwen, responses,
};

/// A dialect, its serializer, and the lines of a boundary.
pub type Bounded = (&'static str, fn(&[Turn]) -> Vec<String>, fn(usize) -> Vec<String>);

pub const BOUNDED: &[Bounded] = &[
    ("responses", responses::serialize, |nth| {
        vec![format!("{{\"type\":\"compaction\",\"id\":\"cmp_{nth}\",\"encrypted_content\":\"gAAAA\"}}")]
    }),
    ("anthropic", anthropic::serialize, |nth| {
        vec![format!(
            "{{\"role\":\"assistant\",\"content\":[{{\"type\":\"compaction\",\"content\":\"Summary {nth}: the key is 42.\"}}]}}"
        )]
    }),
    ("otel", otel::serialize, |nth| {
        vec![format!(
            "{{\"role\":\"assistant\",\"parts\":[{{\"type\":\"compaction\",\"content\":\"Summary {nth}: the key is 42.\"}}]}}"
        )]
    }),
    ("anthropic", anthropic::serialize_roo, |nth| {
        vec![format!(
            "{{\"role\":\"user\",\"content\":\"[{nth} messages hidden]\",\"isTruncationMarker\":true,\"truncationId\":\"t{nth}\"}}"
        )]
    }),
    ("anthropic", anthropic::serialize_roo, |nth| {
        vec![format!(
            "{{\"role\":\"user\",\"content\":\"Summary {nth}: the key is 42.\",\"isSummary\":true,\"condenseId\":\"c{nth}\"}}"
        )]
    }),
    ("gemini", gemini::serialize_events, |nth| vec![gemini::compaction(nth)]),
    ("claude-code", claude_code::serialize, |nth| {
        vec![
            format!(
                "{{\"parentUuid\":null,\"isSidechain\":false,\"sessionId\":\"s\",\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"b{nth}\"}}"
            ),
            format!(
                "{{\"parentUuid\":\"b{nth}\",\"isSidechain\":false,\"sessionId\":\"s\",\"type\":\"user\",\"isCompactSummary\":true,\"message\":{{\"role\":\"user\",\"content\":\"Summary {nth}: the key is 42.\"}},\"uuid\":\"c{nth}\"}}"
            ),
        ]
    }),
    ("pi", pi::serialize, |nth| {
        vec![format!(
            "{{\"type\":\"compaction\",\"id\":\"k{nth}\",\"parentId\":null,\"summary\":\"Summary {nth}: the key is 42.\",\"tokensBefore\":9}}"
        )]
    }),
    ("copilot", copilot::serialize, |nth| vec![copilot::compaction(nth)]),
    ("kimi", kimi::serialize, |nth| vec![kimi::compaction(nth, "\"compactedCount\":3")]),
    ("kimi", kimi::serialize, |nth| vec![kimi::compaction(nth, "\"compactedCount\":9,\"keptUserMessageCount\":1")]),
    ("qwen", qwen::serialize, |nth| vec![qwen::compression(&format!("k{nth}"), None)]),
    ("opencode", opencode::serialize, |nth| {
        vec![
            format!(
                "{{\"info\":{{\"role\":\"user\",\"time\":{{\"created\":1}},\"id\":\"msg_mark{nth}\",\"sessionID\":\"ses_1\"}},\"parts\":[{{\"type\":\"compaction\",\"auto\":true}}]}}"
            ),
            format!(
                "{{\"info\":{{\"parentID\":\"msg_mark{nth}\",\"role\":\"assistant\",\"summary\":true,\"finish\":\"stop\",\"time\":{{\"created\":1}},\"id\":\"msg_sum{nth}\",\"sessionID\":\"ses_1\"}},\"parts\":[{{\"type\":\"text\",\"text\":\"Summary {nth}: the key is 42.\"}}]}}"
            ),
        ]
    }),
    ("codex", codex::serialize, |nth| {
        vec![format!(
            "{{\"timestamp\":\"t\",\"type\":\"compacted\",\"payload\":{{\"message\":\"Summary {nth}: the key is 42.\"}}}}"
        )]
    }),
    ("codex", codex::serialize, |nth| {
        let message = |role: &str, kind: &str, text: &str| {
            format!(
                "{{\"type\":\"message\",\"role\":\"{role}\",\"content\":[{{\"type\":\"{kind}\",\"text\":\"{text} {nth}\"}}]}}"
            )
        };
        let history = [
            message("user", "input_text", "What is the key?"),
            String::from("{\"type\":\"function_call\",\"call_id\":\"call_k\",\"name\":\"bash\",\"arguments\":\"{}\"}"),
            String::from("{\"type\":\"function_call_output\",\"call_id\":\"call_k\",\"output\":\"42\"}"),
            message("user", "input_text", "Summary: the key is 42."),
        ];
        vec![format!(
            "{{\"timestamp\":\"t\",\"type\":\"compacted\",\"payload\":{{\"message\":\"\",\"replacement_history\":[{}]}}}}",
            history.join(",")
        )]
    }),
    ("gemini", gemini::serialize_lines, |nth| {
        let history = [
            format!("{{\"id\":\"q{nth}\",\"type\":\"user\",\"content\":[{{\"text\":\"What is the key?\"}}]}}"),
            format!(
                "{{\"id\":\"a{nth}\",\"type\":\"gemini\",\"content\":[{{\"functionCall\":{{\"id\":\"k{nth}\",\"name\":\"bash\",\"args\":{{}}}}}}]}}"
            ),
            format!(
                "{{\"id\":\"a{nth}_response\",\"type\":\"user\",\"content\":[{{\"functionResponse\":{{\"id\":\"k{nth}\",\"name\":\"bash\",\"response\":{{\"output\":\"42\"}}}}}}]}}"
            ),
            format!(
                "{{\"id\":\"r{nth}\",\"type\":\"user\",\"content\":[{{\"functionResponse\":{{\"id\":\"k{nth}\",\"name\":\"bash\",\"response\":{{\"output\":\"42\"}}}}}}]}}"
            ),
            format!("{{\"id\":\"b{nth}\",\"type\":\"gemini\",\"content\":\"Summary: the key is 42.\"}}"),
        ];
        vec![format!("{{\"$set\":{{\"messages\":[{}]}}}}", history.join(","))]
    }),
    ("codex", codex::serialize, |_| {
        vec![String::from(
            "{\"timestamp\":\"t\",\"type\":\"response_item\",\"payload\":{\"type\":\"context_compaction\",\"encrypted_content\":\"gAAAA\"}}",
        )]
    }),
];

/// How the messages of a text stand that have a mark, by the mark.
pub fn standings(dialect: &str, text: &str) -> HashMap<String, Standing> {
    let document = Document::parse_log(text).expect("what we write is JSON");
    let transcripts = reading(Some(dialect), Framing::Lines).transcripts_or_none(&document).expect("it is read");
    let messages = transcripts.iter().flat_map(|(_, transcript)| &transcript.messages);
    let marked = messages.filter_map(|message| {
        let mark = message.value()?.get_text("mark")?.decode().into_owned();
        Some((mark, message.standing))
    });
    marked.collect()
}

/// Makes the link `key` of an item lead to `target`.
pub fn link(item: &mut String, key: &str, target: &str) {
    let key = format!("\"{key}\":");
    let start = item.find(&key).expect("a link") + key.len();
    let end = start + item[start..].find(',').expect("a member behind it");
    item.replace_range(start..end, &format!("\"{target}\""));
}

/// The id of an entry of pi, or of a record of Qwen Code.
pub fn id(item: &str) -> String {
    item.split("id\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect("an id").to_owned()
}

/// Items with boundaries among them, each with a mark of its own; and the places of the boundaries. The lines of a boundary
/// follow each other.
pub fn marked(script: &[Turn], bounded: &Bounded, places: &[prop::sample::Index]) -> (Vec<String>, Vec<usize>) {
    let mut items: Vec<(Option<usize>, String)> = (bounded.1)(script).into_iter().map(|item| (None, item)).collect();
    for (nth, place) in places.iter().enumerate() {
        let mut at = place.index(items.len() + 1);
        let is_one = |last: &(Option<usize>, String), next: &(Option<usize>, String)| {
            next.0.is_some() && next.0 == last.0 || bounded.0 == "qwen" && id(&next.1) == id(&last.1)
        };
        while at > 0 && at < items.len() && is_one(&items[at - 1], &items[at]) {
            at += 1;
        }
        // A log goes on behind the summary.
        let keys = match bounded.0 {
            "claude-code" => Some(("parentUuid", format!("c{nth}"))),
            "pi" => Some(("parentId", format!("k{nth}"))),
            "qwen" => Some(("parentUuid", format!("k{nth}"))),
            _ => None,
        };
        if let (Some((key, summary)), Some((None, _))) = (&keys, items.get(at)) {
            // The pieces of a message share its link.
            let pieces = items[at..].windows(2).take_while(|pair| is_one(&pair[0], &pair[1])).count();
            items[at..=at + pieces].iter_mut().for_each(|(_, item)| link(item, key, summary));
        }
        let mut lines: Vec<(Option<usize>, String)> =
            (bounded.2)(nth).into_iter().map(|line| (Some(nth), line)).collect();
        // A compaction of a range of time replaces nothing that comes behind it.
        let time = |item: &str, key: &str| item.split_once(key)?.1.split([',', '}']).next()?.parse::<usize>().ok();
        let last = items[..at]
            .iter()
            .rev()
            .filter(|(nth, _)| nth.is_none())
            .find_map(|(_, item)| time(item, "\"timestamp\":"));
        for (_, line) in &mut lines {
            if let Some(end) = time(line, "\"end_timestamp\":") {
                let earlier = end.min(last.unwrap_or(0));
                *line = line.replace(&format!("\"end_timestamp\":{end}"), &format!("\"end_timestamp\":{earlier}"));
            }
        }
        if let ("pi" | "qwen", Some((key, _)), Some((_, last))) =
            (bounded.0, &keys, at.checked_sub(1).map(|last| &items[last]))
        {
            link(&mut lines[0].1, key, &id(last));
        }
        items.splice(at..at, lines);
    }
    let mark = |(nth, (_, item)): (usize, &(Option<usize>, String))| {
        item.replacen('{', &format!("{{\"mark\":\"m{nth}.\","), 1)
    };
    let marked = items.iter().enumerate().map(mark).collect();
    (marked, (0..items.len()).filter(|&at| items[at].0.is_some()).collect())
}
