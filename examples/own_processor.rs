//! A processor of your own: it drops every message that only says "ok", in any dialect.

use std::io::Write as _;

use curtail_core::{Action, Cutter, Error, MessageView, PartKind, Policy, TranscriptView};

const CHAT: &str = r#"{"role": "user", "content": "Book a table for two."}
{"role": "assistant", "content": "Booked for 19:30."}
{"role": "user", "content": "ok"}
{"role": "user", "content": "Is there parking?"}
"#;

/// Drops messages that only say "ok".
struct DropOk;

impl Policy for DropOk {
    fn name(&self) -> &'static str {
        "drop-ok"
    }

    fn decide(&self, transcript: &TranscriptView<'_>) -> Result<Vec<Action>, Box<dyn std::error::Error + Send + Sync>> {
        let actions = transcript
            .messages()
            .map(|message| if is_ok(message) { Action::Drop("says only \"ok\"".into()) } else { Action::Keep });
        Ok(actions.collect())
    }
}

fn is_ok(message: MessageView<'_>) -> bool {
    message.text() == "ok" && message.parts().all(|part| part.kind() == PartKind::Text)
}

/// The chat without messages that only say "ok".
fn cut(chat: &str) -> Result<String, Error> {
    Cutter::builder().policy(DropOk).build()?.cut(chat)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    write!(std::io::stdout(), "{}", cut(CHAT)?)?;
    Ok(())
}

#[test]
fn only_the_ok_is_dropped() -> Result<(), Error> {
    let expected: String = CHAT.split_inclusive('\n').filter(|line| !line.contains("\"ok\"")).collect();
    assert_eq!(cut(CHAT)?, expected);
    Ok(())
}
