//! The Copilot CLI: what it reads of the events that are written, and what it does not send.

use curtail_core::dialects::Framing;
use curtail_core::json::Document;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{Repair, RepairMode};

use super::files::{cut, fixture};
use crate::laws::cases::memory;
use crate::laws::check::reading;

/// Copilot sends a system message with the role that the event names, and the error of a tool that failed.
#[test]
fn what_is_written_is_sent() {
    let block = cut(Chain::default().then(memory("{\"goal\":\"row\"}")), &fixture("copilot/minimal.jsonl"));
    let written = block.lines().find(|line| line.contains("working_memory")).expect("a block");
    assert!(written.contains(r#""type":"system.message""#) && written.contains(r#""role":"system""#), "{written}");
    let stub = Repair { mode: RepairMode::Stub, pending: true };
    let stubbed = cut(Chain::default().then(stub), &fixture("copilot/pending.jsonl"));
    let written = stubbed.lines().find(|line| line.contains("tool.execution_complete")).expect("a result");
    assert!(written.contains(r#""success":false,"error":{"message":"[interrupted"#), "{written}");
}

/// A message of a sub-agent is not sent with the main conversation.
#[test]
fn a_sub_agent_has_a_conversation_of_its_own() {
    let event = |kind: &str, data: &str| format!("{{\"type\":\"{kind}\",\"data\":{{{data}}}}}\n");
    let request = |id: &str| format!("\"content\":\"\",\"toolRequests\":[{{\"toolCallId\":\"{id}\",\"name\":\"n\"}}]");
    let call = ",\"parentToolCallId\":\"c1\"";
    // Newer versions name the agent beside the data.
    let by_agent = |event: String| event.replacen('{', "{\"agentId\":\"a1\",", 1);
    let compaction = "\"success\":true,\"summaryContent\":\"It rows.\"";
    let side = |call: &str| {
        [
            event("assistant.message", &(request("c2") + call)),
            event("tool.execution_complete", &format!("\"toolCallId\":\"c2\",\"success\":true{call}")),
            event("session.compaction_complete", &format!("{compaction}{call}")),
        ]
    };
    for side in [side(call), side("").map(by_agent), side(call).map(by_agent)] {
        let main = [event("user.message", "\"content\":\"Row.\""), event("assistant.message", &request("c1"))];
        let end = event("tool.execution_complete", "\"toolCallId\":\"c1\",\"success\":true");
        let text = [main.concat(), side.concat(), end].concat();
        let document = Document::parse_log(&text).expect("it is JSON");
        let read = reading(Some("copilot"), Framing::Lines).transcripts(&document).expect("a transcript");
        let messages = &read[0].1.messages;
        let threads: Vec<u32> = messages.iter().map(|message| message.thread).collect();
        assert_eq!(threads, [0, 0, 1, 1, 1, 0], "{text}");
        assert!(messages[..2].iter().all(|message| message.standing.is_read()), "{text}");
    }
}

/// A notification is sent as a message of the user; what the user ran is not sent, and has no call.
#[test]
fn a_notification_is_said_and_a_command_of_the_user_is_not() {
    let text = fixture("copilot/notices.jsonl");
    let document = Document::parse_log(&text).expect("it is JSON");
    let read = reading(Some("copilot"), Framing::Lines).transcripts(&document).expect("a transcript");
    let messages = &read[0].1.messages;
    let roles: Vec<&str> = messages.iter().map(|message| message.role.name()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user", "assistant"]);
    assert!(messages[4].automatic && messages.iter().filter(|message| message.automatic).count() == 1);
    let repair = Repair { mode: RepairMode::Drop, pending: true };
    assert_eq!(cut(Chain::default().then(repair), &text), text);
    // What the user ran is no result that a compaction keeps with its call; a notification is kept like a message.
    let event = |kind: &str, data: &str| format!("{{\"type\":\"{kind}\",\"data\":{{{data}}}}}\n");
    let own = event("tool.execution_complete", "\"toolCallId\":\"u1\",\"isUserRequested\":true,\"success\":true");
    let result = event("tool.execution_complete", "\"toolCallId\":\"c1\",\"success\":true");
    let notice = event("system.notification", "\"content\":\"It is done.\"");
    for (between, is_kept) in [(own.clone() + &notice + &result, false), (own + &result, true)] {
        let text = [
            event("user.message", "\"content\":\"Row.\""),
            event("assistant.message", "\"content\":\"\",\"toolRequests\":[{\"toolCallId\":\"c1\",\"name\":\"n\"}]"),
            event("session.compaction_start", ""),
            between,
            event("session.compaction_complete", "\"success\":true,\"summaryContent\":\"It rows.\""),
        ]
        .concat();
        let document = Document::parse_log(&text).expect("it is JSON");
        let read = reading(Some("copilot"), Framing::Lines).transcripts(&document).expect("a transcript");
        assert_eq!(read[0].1.messages[1].standing.is_read(), is_kept, "{text}");
    }
}
