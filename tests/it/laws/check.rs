//! The laws themselves, as checks of one chain on one text.

use curtail::dialects::{Framing, Reading};
use curtail::json::{Document, Value};
use curtail::pipeline::{Chain, Cutter};
use curtail::processors::{Counting, Overhead, View};
use curtail::transcript::{Fault, FaultKind, Pairs};
use proptest::prelude::*;

use super::cases::{Case, tokenizer};

fn cut(case: &Case, dialect: Option<&str>, framing: Framing, text: &str) -> Result<String, TestCaseError> {
    cut_with((case.chain)(), dialect, framing, text)
}

fn reading(dialect: Option<&str>, framing: Framing) -> Reading {
    let dialect = dialect.and_then(curtail::dialects::dialect_named);
    Reading { framing, dialect, named: dialect.is_some(), messages_key: None }
}

pub fn cut_with(chain: Chain, dialect: Option<&str>, framing: Framing, text: &str) -> Result<String, TestCaseError> {
    let reading = reading(dialect, framing);
    let mut out = String::new();
    let done = Cutter { chain, explain: true, counting: None }.cut(&reading, text, &mut out);
    done.map_err(|trouble| TestCaseError::fail(trouble.what))?;
    Ok(out)
}

/// The messages of a text as they are spelt, and its faults as kind and id.
pub fn read(dialect: Option<&str>, framing: Framing, text: &str) -> (Vec<String>, Vec<(FaultKind, String)>, usize) {
    let reading = reading(dialect, framing);
    let document = Document::read_log(text).unwrap_or_else(|fault| panic!("{fault:?} in {text}"));
    let (mut items, mut faults, mut tokens) = (Vec::new(), Vec::new(), 0);
    let counting = Counting { tokenizer: tokenizer(), overhead: Overhead::None, reserve: 0 };
    for (_, transcript) in reading.transcripts(&document).expect("what we write is a transcript") {
        let messages = &transcript.messages;
        items.extend(messages.iter().filter_map(curtail::transcript::Message::value).map(unlinked));
        let pairs = Pairs::find(messages);
        for fault in Fault::find(messages, &pairs, transcript.pairing_rules) {
            let content = &messages[fault.at.message].parts[fault.at.part].content;
            let id =
                content.call().and_then(|call| call.id.clone()).or_else(|| content.result().and_then(|r| r.id.clone()));
            faults.push((fault.kind, id.map_or_else(String::new, |id| id.decode().into_owned())));
        }
        let view = View::new(messages, &transcript.preamble, transcript.pairing_rules);
        tokens += counting.total_until(&view, usize::MAX).unwrap_or(usize::MAX);
    }
    (items, faults, tokens)
}

/// The bytes of a message without its links to others: those change with what stands around it.
fn unlinked(message: Value<'_>) -> String {
    let links = ["parentUuid", "parentId", "logicalParentUuid", "firstKeptEntryId", "firstKeptEntryIndex"];
    let start = message.span().start as usize;
    let mut text = message.raw().to_owned();
    let members: Vec<_> = message.members().filter(|member| links.iter().any(|link| member.key.is(link))).collect();
    for member in members.iter().rev() {
        let span = member.value.span();
        text.replace_range(span.start as usize - start..span.end as usize - start, "");
    }
    text
}

fn is_subsequence(small: &str, large: &str) -> bool {
    let mut rest = large.bytes();
    small.bytes().all(|byte| rest.any(|other| other == byte))
}

pub fn check_laws(case: &Case, dialect: Option<&str>, framing: Framing, text: &str) -> Result<(), TestCaseError> {
    let once = match cut(case, dialect, framing, text) {
        // A budget below what must stay is refused, and nothing is written.
        Err(TestCaseError::Fail(reason)) if reason.message().contains("more than the budget") => return Ok(()),
        once => once?,
    };
    let (before, faults_before, tokens_before) = read(dialect, framing, text);
    let (after, faults_after, tokens_after) = read(dialect, framing, &once);

    // Law 2 and 6: what is kept is kept byte for byte, less the parts that were cut, and in order.
    let mut from = 0;
    for item in &after {
        let found = before[from..].iter().position(|old| old == item || is_subsequence(item, old));
        match found {
            Some(nth) => from += nth + 1,
            None => prop_assert!(
                case.writes || case.name == "clear results",
                "{}: new message {item}\nin {once}",
                case.name
            ),
        }
    }
    // Law 3: no pair is broken by us.
    for fault in &faults_after {
        // A call without a result is named by the worst that can be said of it: that may get milder.
        let unpaired = [FaultKind::DuplicateCallId, FaultKind::UnansweredCall, FaultKind::PendingCall];
        let milder = |(kind, id): &(FaultKind, String)| {
            let rank = |kind| unpaired.iter().position(|known| *known == kind);
            *id == fault.1 && rank(*kind).zip(rank(fault.0)).is_some_and(|(before, after)| before <= after)
        };
        let known = faults_before.contains(fault) || faults_before.iter().any(milder);
        prop_assert!(known, "{}: new fault {fault:?}\nin  {text}\nout {once}", case.name);
    }
    // Law 4: twice is once.
    let twice = cut(case, dialect, framing, &once)?;
    prop_assert_eq!(&once, &twice, "{}: twice is not once\nin {}", case.name, text);
    // Law 5: never bigger.
    if !case.writes {
        prop_assert!(once.len() <= text.len() && tokens_after <= tokens_before, "{}: bigger", case.name);
    }
    Ok(())
}
