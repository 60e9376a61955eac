//! The ids of notes that are written in place of results.

use std::collections::HashSet;

use super::files::{cut, fixture};
use crate::laws::cases::persist;

/// A record of an id that was there before takes its place, so two notes of one text need two ids.
#[test]
fn notes_of_one_text_have_ids_of_their_own() {
    let recording: String = (0..3)
        .map(|nth| {
            format!(
                concat!(
                    r#"{{"id":"u{0}","timestamp":"t","type":"user","content":[{{"text":"And now?"}}]}}"#,
                    "\n",
                    r#"{{"id":"g{0}","timestamp":"t","type":"gemini","content":"","toolCalls":[{{"id":"c{0}","name":"weigh","args":{{}},"#,
                    r#""result":[{{"functionResponse":{{"id":"c{0}","name":"weigh","response":{{"output":"7"}}}}}}],"status":"success"}}]}}"#,
                    "\n",
                ),
                nth
            )
        })
        .collect();
    let shown: String = (0..3)
        .map(|nth| {
            format!(
                concat!(
                    r#"{{"id":"u{0}","role":"user","parts":[{{"type":"text","text":"And now?"}}]}}"#,
                    "\n",
                    r#"{{"id":"g{0}","role":"assistant","parts":[{{"type":"tool-weigh","toolCallId":"c{0}","state":"output-available","input":{{}},"output":"7"}}]}}"#,
                    "\n",
                ),
                nth
            )
        })
        .collect();
    for text in [recording, shown] {
        let out = cut(persist("weigh"), &text);
        let ids: HashSet<&str> = out.split("{\"id\":\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(out.matches("Used weigh tool").count(), 3, "{out}");
        assert_eq!(ids.len(), 6, "{out}");
    }
}

/// `validateUIMessages` refuses a message without an id, and Gemini CLI passes over one when it resumes a recording.
#[test]
fn a_message_is_written_with_an_id_where_all_have_one() {
    for (name, key) in [("ai-sdk/ui-parallel.json", None), ("gemini/cli.json", Some("messages"))] {
        let text = cut(persist("*"), &fixture(name));
        let out: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let messages = key.map_or(&out, |key| &out[key]).as_array().expect("messages");
        assert!(text.contains("Used ") && messages.iter().all(|message| message["id"].is_string()), "{name}: {out:#}");
    }
}
