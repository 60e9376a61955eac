//! A processor of your own: it drops every message that only says "ok", in any dialect.

use std::borrow::Cow;
use std::error::Error;
use std::io::Write as _;

use curtail_core::dialects::{Framing, Reading};
use curtail_core::pipeline::{Chain, Cutter};
use curtail_core::processors::{Decision, Plan, Processor, ProcessorError, View};
use curtail_core::transcript::Content;

const CHAT: &str = r#"{"role": "user", "content": "Book a table for two."}
{"role": "assistant", "content": "Booked for 19:30."}
{"role": "user", "content": "ok"}
{"role": "user", "content": "Is there parking?"}
"#;

/// Drops messages that only say "ok".
struct DropOk;

impl Processor for DropOk {
    fn name(&self) -> &'static str {
        "drop-ok"
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let mut plan = Plan::keep(view.messages.len());
        for (message, decision) in view.messages.iter().zip(&mut plan.decisions) {
            let mut parts = message.parts.iter();
            let ok = |content: &Content<'_>| matches!(content, Content::Text(text) if text.decode() == "ok");
            if message.parts.len() == 1 && parts.all(|part| ok(&part.content)) {
                *decision = Decision::Drop(Cow::Borrowed("says only \"ok\""));
            }
        }
        Ok(plan)
    }
}

/// The chat without messages that only say "ok".
fn cut(chat: &str) -> Result<String, Box<dyn Error>> {
    let cutter = Cutter { chain: Chain::default().then(DropOk), ..Cutter::default() };
    let reading = Reading::new(Framing::Lines, None, None)?;
    let mut shorter = String::new();
    cutter.cut(&reading, chat, &mut shorter)?;
    Ok(shorter)
}

fn main() -> Result<(), Box<dyn Error>> {
    write!(std::io::stdout(), "{}", cut(CHAT)?)?;
    Ok(())
}

#[test]
fn only_the_ok_is_dropped() -> Result<(), Box<dyn Error>> {
    let expected: String = CHAT.split_inclusive('\n').filter(|line| !line.contains("\"ok\"")).collect();
    assert_eq!(cut(CHAT)?, expected);
    Ok(())
}
