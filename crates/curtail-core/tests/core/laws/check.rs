//! The laws themselves, as checks of one chain on one text.

use curtail_core::dialects::{Dialect, Framing, ReadError, Reading};
use curtail_core::json::Document;
use curtail_core::pipeline::{Chain, TextCutter};
use curtail_core::processors::{Counting, Thinking, View};
use curtail_core::transcript::{Fault, FaultKind, Message, Pairs, PartRef, Standing, Transcript, in_flight};
use proptest::prelude::*;

use super::bytes::Written;
use super::cases::{LawCase, tokenizer};

fn cut(case: &LawCase, dialect: Option<&str>, framing: Framing, text: &str) -> Result<String, TestCaseError> {
    cut_with((case.chain)(), dialect, framing, text)
}

pub fn reading(dialect: Option<&str>, framing: Framing) -> Reading {
    let dialect = dialect.and_then(curtail_core::dialects::dialect_named);
    Reading { framing, dialect, named: dialect.is_some(), messages_key: None }
}

pub fn cut_with(chain: Chain, dialect: Option<&str>, framing: Framing, text: &str) -> Result<String, TestCaseError> {
    match cut_with_notes(chain, dialect, framing, text) {
        Ok((out, _)) => Ok(out),
        Err(error) => Err(TestCaseError::fail(error.what)),
    }
}

/// `text` after `chain`, and the notes about it.
pub fn cut_with_notes(
    chain: Chain,
    dialect: Option<&str>,
    framing: Framing,
    text: &str,
) -> Result<(String, Vec<String>), ReadError> {
    let reading = reading(dialect, framing);
    let mut out = String::new();
    let done = TextCutter { chain, explain: true, counting: None }.cut(&reading, text, &mut out);
    match done.map_err(ReadError::from) {
        // Where no message is left, there is nothing to cut again: every command reports that.
        Err(error) if error.what.starts_with("no message was read") => Ok((text.to_owned(), Vec::new())),
        Err(error) => Err(error),
        Ok(cut) => Ok((out, cut.notes.into_iter().map(|(_, note)| note).collect())),
    }
}

/// Whether the notes of a cut say that it keeps a signed thought which it broke, because the round is in flight. Once a later
/// stage ends that round, a chain drops the thought; a command of its own does not know of it.
pub fn keeps_broken_thoughts(notes: &[String]) -> bool {
    notes.iter().any(|note| note.contains("kept in the in-flight round"))
}

/// What the laws compare: the bytes of the messages of a text, and their pairs and faults.
#[derive(Default)]
pub struct Seen {
    /// The number of boundaries.
    pub boundaries: usize,
    /// The number of signed thoughts that a boundary superseded.
    pub replaced_thoughts: usize,
    /// The bytes of the messages, in order.
    pub items: Vec<String>,
    /// The same, with what a cut can remove.
    pub written: Vec<Written>,
    /// The pairing faults.
    pub faults: Vec<SeenFault>,
    /// The messages with the halves of every pair without ids.
    pub positional: Vec<(Written, Written)>,
    /// Tokens, preambles included.
    pub tokens: usize,
    /// The number of messages of the assistant.
    pub speaking: usize,
    /// The ids of the calls whose answer can still come.
    pub waiting: Vec<String>,
    /// Whether a round is in flight.
    pub in_flight: bool,
    /// For each message, whether its turn was rolled back.
    pub rolled_back: Vec<bool>,
}

impl Seen {
    fn add_messages(&mut self, dialect: &dyn Dialect, messages: &[Message<'_>]) {
        for message in messages {
            if let Some(written) = Written::among(dialect, message, messages) {
                self.items.push(written.text.clone());
                self.written.push(written);
                self.rolled_back.push(message.standing.is_rolled_back());
            }
        }
        self.boundaries += messages.iter().filter(|message| message.is_boundary()).count();
        let replaced = messages.iter().filter(|message| message.standing == Standing::Superseded);
        self.replaced_thoughts +=
            replaced.flat_map(|message| &message.parts).filter(|part| part.is_prefix_bound()).count();
        self.speaking += messages.iter().filter(|message| message.is_target()).count();
        self.in_flight |= in_flight(messages) < messages.len();
    }

    fn add_pairs(&mut self, dialect: &dyn Dialect, transcript: &Transcript<'_>) {
        let messages = &transcript.messages;
        let pairs = Pairs::from_messages(messages);
        let written = |at: PartRef| Written::among(dialect, &messages[at.message], messages).expect("it was read");
        for fault in Fault::find_all(messages, &pairs, transcript.layout.rules.pairing) {
            let id =
                fault.at.part_in(messages).content.tool_id().map_or_else(String::new, |id| id.decode().into_owned());
            self.faults.push(SeenFault { kind: fault.kind, id, message: written(fault.at) });
        }
        let result = |at: PartRef| at.part_in(messages).content.result();
        let is_final = |at: PartRef| result(at).is_some_and(|result| !result.interim);
        let awaiting = pairs.awaiting(messages).into_iter().filter(|at| !pairs.counterpart(*at).is_some_and(is_final));
        let ids = awaiting.filter_map(|at| at.part_in(messages).content.call()?.id.as_ref());
        self.waiting.extend(ids.map(|id| id.decode().into_owned()));
        let is_nameless = |at: PartRef| result(at).is_some_and(|result| result.id.is_none());
        let positional = pairs.pairs().filter(|(_, result)| is_nameless(*result));
        self.positional.extend(positional.map(|(call, result)| (written(call), written(result))));
    }

    /// Whether a message of `after` is read again whose turn was rolled back here.
    fn revives_turns(&self, after: &Self, rewritten: &[&str]) -> bool {
        let those = |seen: &'_ Self, rolled_back: bool| -> Vec<usize> {
            (0..seen.written.len()).filter(|&at| seen.rolled_back[at] == rolled_back).collect()
        };
        let over = those(self, true);
        let is_over = |item: &Written| over.iter().any(|&at| item.is_left_of(&self.written[at], rewritten));
        those(after, false).into_iter().any(|at| is_over(&after.written[at]))
    }
}

/// A pairing fault, and the message that it is in.
#[derive(Debug)]
pub struct SeenFault {
    pub kind: FaultKind,
    pub id: String,
    pub message: Written,
}

pub fn read_seen(dialect: Option<&str>, framing: Framing, text: &str) -> Seen {
    let reading = reading(dialect, framing);
    let document = Document::parse_log(text).unwrap_or_else(|fault| panic!("{fault:?} in {text}"));
    let mut seen = Seen::default();
    // What is left can be an item that is no message: every command reports that.
    for (dialect, transcript) in reading.transcripts_or_none(&document).expect("what we write is a transcript") {
        seen.add_messages(dialect, &transcript.messages);
        seen.add_pairs(dialect, &transcript);
        let view = View::of_layout(&transcript.layout, &transcript.messages);
        seen.tokens += Counting::new(tokenizer()).total_until(&view, usize::MAX).unwrap_or(usize::MAX);
    }
    seen
}

/// Laws 2 and 6: what is kept is kept byte for byte, less the parts that were cut, and in order.
fn check_bytes(case: &LawCase, before: &Seen, after: &Seen, once: &str) -> Result<(), TestCaseError> {
    let mut from = 0;
    for item in after.written.iter().filter(|_| !case.writes()) {
        let nth = before.written[from..].iter().position(|old| item.is_left_of(old, case.change.rewritten()));
        prop_assert!(nth.is_some(), "{}: new message {}\nin {once}", case.name, item.text);
        from += nth.map_or(0, |nth| nth + 1);
    }
    Ok(())
}

/// Law 3: every fault of the output is a fault of the same message of the input, and no result without an id has another
/// call. An unanswered call can become pending.
fn check_pairs(case: &LawCase, before: &Seen, after: &Seen, io: [&str; 2]) -> Result<(), TestCaseError> {
    let [text, once] = io;
    let is_left = |new: &Written, old: &Written| case.writes() || new.is_left_of(old, case.change.rewritten());
    for fault in &after.faults {
        let known = before.faults.iter().any(|old| {
            let kind =
                old.kind == fault.kind || old.kind == FaultKind::UnansweredCall && fault.kind == FaultKind::PendingCall;
            kind && old.id == fault.id && is_left(&fault.message, &old.message)
        });
        prop_assert!(known, "{}: new fault {fault:?}\nin  {text}\nout {once}", case.name);
    }
    for (call, result) in after.positional.iter().filter(|_| !case.writes()) {
        let known = before.positional.iter().any(|old| is_left(call, &old.0) && is_left(result, &old.1));
        prop_assert!(known, "{}: {}\nanswers {}\nin  {text}\nout {once}", case.name, result.text, call.text);
    }
    Ok(())
}

/// Whether a cut failed because it cannot keep what has to stay.
pub fn is_refused(reason: &str) -> bool {
    reason.contains("more than the budget") || reason.contains("would drop ")
}

/// `text` after `chain`; `None` if the cut is refused, so that nothing is written: a budget is below what must stay, or no message
/// would be left.
pub fn cut_unless_refused(
    chain: Chain,
    dialect: Option<&str>,
    framing: Framing,
    text: &str,
) -> Result<Option<String>, TestCaseError> {
    match cut_with(chain, dialect, framing, text) {
        Err(TestCaseError::Fail(reason)) if is_refused(reason.message()) => Ok(None),
        cut => cut.map(Some),
    }
}

pub fn check_laws(case: &LawCase, dialect: Option<&str>, framing: Framing, text: &str) -> Result<(), TestCaseError> {
    let Some(once) = cut_unless_refused((case.chain)(), dialect, framing, text)? else { return Ok(()) };
    // The input itself keeps every law, and cutting it again is the same run.
    if once == text {
        return Ok(());
    }
    let (before, after) = (read_seen(dialect, framing, text), read_seen(dialect, framing, &once));
    check_bytes(case, &before, &after, &once)?;
    check_pairs(case, &before, &after, [text, &once])?;
    // What is broken may have to go; any other call whose answer can still come stays.
    for id in before.waiting.iter().filter(|_| before.faults.is_empty()) {
        prop_assert!(after.waiting.contains(id), "{}: {id} waits no more\nin  {text}\nout {once}", case.name);
    }
    // Law 4: twice is once. Numbers mean others once turns count that were rolled back, or once a round in flight lost the pair
    // by which it was: what it kept has a number of those that were dropped.
    let is_renumbered = before.in_flight && !after.in_flight || before.revives_turns(&after, case.change.rewritten());
    if !(case.goes_by_number() && is_renumbered) {
        let twice = cut(case, dialect, framing, &once)?;
        prop_assert_eq!(&once, &twice, "{}: twice is not once\nin {}", case.name, text);
    }
    // Law 5: never bigger.
    if !case.writes() {
        prop_assert!(once.len() <= text.len() && after.tokens <= before.tokens, "{}: bigger", case.name);
    }
    Ok(())
}

/// A chain of one command.
pub type Stage = Box<dyn Fn() -> Chain>;

/// Whether a stage that makes `after` of `before` drops a boundary that replaced signed thoughts: a model reads them again. If
/// an earlier stage broke them, a chain drops them; a command of its own does not know of it.
pub fn revives_thoughts(dialect: Option<&str>, framing: Framing, before: &str, after: &str) -> bool {
    let before = read_seen(dialect, framing, before);
    before.replaced_thoughts > 0 && read_seen(dialect, framing, after).boundaries < before.boundaries
}

/// A chain of `stages` gives what they give one after another, each reading what the last one wrote. Where a stage
/// [keeps broken thoughts](keeps_broken_thoughts) or [revives thoughts](revives_thoughts), the two may differ in thoughts alone:
/// they are compared with every thought kept.
pub fn check_stages(
    stages: &[Stage],
    dialect: Option<&str>,
    framing: Framing,
    text: &str,
) -> Result<(), TestCaseError> {
    if !are_stages_a_chain(stages, Thinking::Auto, dialect, framing, text)? {
        are_stages_a_chain(stages, Thinking::Keep, dialect, framing, text)?;
    }
    Ok(())
}

/// Compares the chain with its stages; false, without a comparison, where the two may differ in thoughts.
fn are_stages_a_chain(
    stages: &[Stage],
    thinking: Thinking,
    dialect: Option<&str>,
    framing: Framing,
    text: &str,
) -> Result<bool, TestCaseError> {
    let mut piped = text.to_owned();
    let mut whole = Chain { thinking, ..Chain::default() };
    for (nth, stage) in stages.iter().enumerate() {
        let chain = Chain { thinking, ..stage() };
        let (out, notes) =
            cut_with_notes(chain, dialect, framing, &piped).map_err(|error| TestCaseError::fail(error.what))?;
        let may_differ = keeps_broken_thoughts(&notes) || nth > 0 && revives_thoughts(dialect, framing, &piped, &out);
        if may_differ && thinking == Thinking::Auto {
            return Ok(false);
        }
        piped = out;
        whole.stages.extend(stage().stages);
    }
    prop_assert_eq!(cut_with(whole, dialect, framing, text)?, piped, "in {}", text);
    Ok(true)
}
