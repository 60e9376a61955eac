//! What a chain leaves of a transcript is what a reader makes of the bytes that are written of it.

use curtail_core::dialects::{Framing, dialect_named};
use curtail_core::edit::apply;
use curtail_core::figures::FigureEdits;
use curtail_core::json::Document;
use curtail_core::transcript::{Message, Pairs, PartRef, Role, Transcript};
use proptest::prelude::*;

use super::cases::{CASES, LawCase};
use super::check::reading;
use super::generated::{frame, serializer};
use crate::properties::{drawn, tried};
use crate::serializers::broken_script;

/// What is read of a message where its neighbors are concerned.
#[derive(Debug, PartialEq)]
struct Shape {
    role: Role,
    automatic: bool,
    binds_thoughts: bool,
    indivisible: bool,
    parts: Vec<(&'static str, Option<String>, Option<PartRef>)>,
}

fn shapes(messages: &[Message<'_>]) -> Vec<Shape> {
    let pairs = Pairs::from_messages(messages);
    let shape = |(at, message): (usize, &Message<'_>)| {
        let part = |nth: usize| {
            let content = &message.parts[nth].content;
            let id = content.tool_id().map(|id| id.decode().into_owned());
            (content.kind(), id, pairs.counterpart(PartRef { message: at, part: nth }))
        };
        let parts = (0..message.parts.len()).filter(|&nth| message.parts[nth].content.is_tool()).map(part).collect();
        Shape {
            role: message.role,
            automatic: message.automatic,
            binds_thoughts: message.is_bound_reasoning(),
            indivisible: message.call_rules.indivisible && message.calls().count() > 1,
            parts,
        }
    };
    messages.iter().enumerate().map(shape).collect()
}

fn read<'d>(dialect: &str, document: &'d Document<'_>) -> Vec<Transcript<'d>> {
    let transcripts = reading(Some(dialect), Framing::Lines).transcripts_or_none(document).expect("it is read");
    transcripts.into_iter().map(|(_, transcript)| transcript).collect()
}

fn check(case: &LawCase, name: &str, text: &str) -> Result<(), TestCaseError> {
    let dialect = dialect_named(name).expect("a dialect");
    let document = Document::parse_log(text).expect("JSON");
    for Transcript { layout, messages } in read(name, &document) {
        let Ok(run) = (case.chain)().run(&layout, messages, |_, _, _| {}) else { continue };
        if !run.changed || run.messages.is_empty() || run.messages.iter().any(Message::is_read_otherwise) {
            continue;
        }
        let mut written = String::new();
        apply(&layout, dialect, &run.messages, &FigureEdits::default(), &mut written);
        let left = Document::parse_log(&written).expect("JSON");
        let again: Vec<Shape> = read(name, &left).iter().flat_map(|transcript| shapes(&transcript.messages)).collect();
        prop_assert_eq!(shapes(&run.messages), again, "{}\nin  {}\nout {}", case.name, text, written);
    }
    Ok(())
}

proptest! {
    #![proptest_config(crate::properties::property(24))]

    /// What is left is read as it is.
    #[test]
    fn what_is_left_is_read_as_it_is(script in broken_script(), serializer in serializer(), seed in any::<u64>(), drawn in drawn()) {
        let text = frame(&(serializer.1)(&script), Framing::Lines, seed);
        for case in tried(CASES.iter().filter(|case| !case.writes()), drawn) {
            check(case, serializer.0, &text)?;
        }
    }
}
