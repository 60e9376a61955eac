//! Rolling memory: the newest interactions word for word, and summaries of the interactions before them.
//!
//! The processor decides what to summarize and what to keep, and has no state of its own between two runs. Its state, which
//! stands here, is written as JSON for a program, and as a block of text in the transcript for a model. The other files group
//! messages into interactions and keep threads in the store. [`RollingSummary::due`] says when a summary is due.

mod interactions;
mod least_kept;
mod rolling_summary;
mod stored;
mod thread;

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use curtail_core::json::{Text, quote};
use curtail_core::transcript::{Content, Message, Part, Role, is_own_block, own_blocks};
use curtail_core::visible::reads_as;
use curtail_facts::Facts;

pub use interactions::{Counted, Interaction, SummaryInput};
pub use least_kept::LeastKept;
pub use rolling_summary::{RollingSummary, RollingView, SummaryFailure};
pub use thread::{Shown, Taken, Thread, ThreadError, append, current};

// Which interactions are held, and which are summarized and when. The schedule counts interactions and knows nothing about
// their content.

/// The size of a rolling memory: the newest `window` interactions word for word, and the newest `max_summaries` summaries of
/// the interactions before them; 21 and 3 by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rolling {
    /// Number of interactions that are held, and that one summary covers.
    pub window: NonZeroUsize,
    /// Number of summaries that are kept; the oldest is dropped first.
    pub max_summaries: NonZeroUsize,
}

impl Default for Rolling {
    fn default() -> Self {
        let at_least_one = |n| NonZeroUsize::new(n).unwrap_or(NonZeroUsize::MIN);
        Self { window: at_least_one(21), max_summaries: at_least_one(3) }
    }
}

/// Interactions from `start` to `end`, counted from 1, both included; empty if `end` is before `start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InteractionRange {
    /// The first interaction.
    #[serde(rename = "startIndex")]
    pub start: usize,
    /// The last interaction.
    #[serde(rename = "endIndex")]
    pub end: usize,
}

impl InteractionRange {
    /// The number of interactions.
    pub fn len(self) -> usize {
        (self.end + 1).saturating_sub(self.start)
    }

    /// Whether the range is empty.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

impl Rolling {
    /// The interactions to summarize when interaction `n` arrives, if any: the latest `window` ones, first when the window
    /// overflows, then after every `window` further ones. With a window of 21: 2 to 22 at 22, 23 to 43 at 43.
    pub fn due(self, n: usize) -> Option<InteractionRange> {
        let window = self.window.get();
        (n > window && (n - 1).is_multiple_of(window)).then(|| InteractionRange { start: n + 1 - window, end: n })
    }

    /// The interactions in the window after `seen` interactions.
    pub fn held(self, seen: usize) -> InteractionRange {
        InteractionRange { start: seen.saturating_sub(self.window.get()) + 1, end: seen }
    }

    /// The ranges of the summaries that are kept after `seen` interactions, oldest first.
    pub fn kept(self, seen: usize) -> Vec<InteractionRange> {
        let window = self.window.get();
        let made = seen.saturating_sub(1) / window;
        let first = made.saturating_sub(self.max_summaries.get()) + 1;
        (first..=made).filter_map(|k| self.due(k * window + 1)).collect()
    }
}

/// A summary and the interactions that it covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The interactions that it covers.
    pub range: SummaryRange,
    /// The text of the summary.
    pub text: String,
    /// The facts of the transcript up to the end of the range. Only the newest summary has them; they include those of the
    /// summaries before.
    #[serde(rename = "ledger", default, skip_serializing_if = "Facts::is_empty")]
    pub facts: Facts,
    /// The time of the last of these interactions in ISO 8601, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ts: Option<String>,
}

/// The range that a summary covers, by number and, if messages have ids, by id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryRange {
    /// By number.
    #[serde(flatten)]
    pub span: InteractionRange,
    /// The id of the first message.
    #[serde(default, rename = "startId", skip_serializing_if = "Option::is_none")]
    pub start_id: Option<String>,
    /// The id of the last message with text.
    #[serde(default, rename = "endId", skip_serializing_if = "Option::is_none")]
    pub end_id: Option<String>,
}

impl From<InteractionRange> for SummaryRange {
    fn from(span: InteractionRange) -> Self {
        Self { span, start_id: None, end_id: None }
    }
}

/// The state after some interactions. Adding further interactions one by one or all at once gives the same state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RollingState {
    /// Number of interactions so far.
    pub seen: usize,
    /// The kept summaries, oldest first.
    pub summaries: Vec<Summary>,
}

/// A state to continue from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateSoFar {
    /// The state.
    pub state: RollingState,
    /// The number of the first interaction after it.
    pub next: usize,
}

impl RollingState {
    /// The ranges to summarize when there are `seen` interactions in all. A summary that would be dropped within the same step
    /// is not made: a model would be paid for it in vain.
    pub fn due(&self, rolling: Rolling, seen: usize) -> Vec<InteractionRange> {
        let mut spans = rolling.kept(seen);
        spans.retain(|span| span.end > self.seen);
        spans
    }

    /// Advances to `seen` interactions in all, with one summary per [due](Self::due) range, in that order.
    pub fn advance(&mut self, rolling: Rolling, seen: usize, fresh: Vec<Summary>) {
        self.seen = self.seen.max(seen);
        self.summaries.extend(fresh);
        let surplus = self.summaries.len().saturating_sub(rolling.max_summaries.get());
        self.summaries.drain(..surplus);
        if let Some((_, older)) = self.summaries.split_last_mut() {
            older.iter_mut().for_each(|summary| summary.facts = Facts::default());
        }
    }
}

// The state as JSON: the held interactions, and the summaries of earlier ones.

/// The state on one line: `{"interactions":[…],"summaries":[…]}`, oldest summary first.
///
/// An interaction contains its message under `userRequest` or `aiResponse`, or both if it is an exchange; `rest` contains its
/// other messages, such as tool calls and results. `pending` contains messages that belong to no interaction yet, such as
/// calls without a result. `held` are the interactions in the window; `time` returns the time of the message with an index.
pub fn state(
    messages: &[Message<'_>],
    view: &RollingView,
    held: InteractionRange,
    time: &dyn Fn(usize) -> Option<String>,
) -> String {
    let held: Vec<String> = (held.start..=held.end).filter_map(|n| interaction(messages, view, n, time)).collect();
    let mut text = format!("{{\"interactions\":[{}],\"summaries\":[", held.join(","));
    // Strings and numbers always serialize.
    let summaries = view.memory.summaries.iter().filter_map(|summary| serde_json::to_string(summary).ok());
    text.push_str(&summaries.collect::<Vec<_>>().join(","));
    text.push(']');
    let last = view.interactions.last().map_or(0, end_of_last);
    let pending: Vec<String> = others(messages, last..messages.len(), &|at| view.is_block(at));
    if !pending.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(text, ",\"pending\":[{}]", pending.join(","));
    }
    text.push('}');
    text
}

/// The interaction with this number as JSON.
fn interaction(
    messages: &[Message<'_>],
    view: &RollingView,
    number: usize,
    time: &dyn Fn(usize) -> Option<String>,
) -> Option<String> {
    let interaction = view.interaction(number)?;
    let end = view.interaction(number + 1).map_or_else(|| end_of_last(interaction), |next| next.start);
    let side = |role| interaction.utterances.iter().copied().filter(move |&at| messages[at].role == role);
    let request = side(Role::User).next();
    let response = side(Role::Assistant).next_back();
    let mut members: Vec<String> = Vec::new();
    members.extend(request.map(|at| format!("\"userRequest\":{}", compact(&messages[at]))));
    members.extend(response.map(|at| format!("\"aiResponse\":{}", compact(&messages[at]))));
    let is_written = |at: usize| request == Some(at) || response == Some(at) || view.is_block(at);
    let rest = others(messages, interaction.start..end, &is_written);
    if !rest.is_empty() {
        members.push(format!("\"rest\":[{}]", rest.join(",")));
    }
    let ts = interaction.utterances.last().and_then(|&at| time(at));
    members.extend(ts.map(|ts| format!("\"ts\":{}", quote(&ts))));
    Some(format!("{{{}}}", members.join(",")))
}

/// The end of the messages of the last interaction: an exchange includes assistant messages after its answer.
fn end_of_last(interaction: &Interaction) -> usize {
    let end = interaction.utterances.last().map_or(0, |at| at + 1);
    interaction.arrived.max(end)
}

/// The messages of a range as JSON, without system messages, turns that were taken back, and those for which `except` is true.
fn others(messages: &[Message<'_>], range: std::ops::Range<usize>, except: &dyn Fn(usize) -> bool) -> Vec<String> {
    let is_told = |message: &Message<'_>| !message.role.instructs() && !message.standing.is_rolled_back();
    range.filter(|&at| !except(at) && is_told(&messages[at])).map(|at| compact(&messages[at])).collect()
}

/// A message as JSON without white space between tokens.
fn compact(message: &Message<'_>) -> String {
    message.value().map_or_else(|| String::from("null"), |value| Text::Json(value.raw()).decode().into_owned())
}

// The block of text that contains the summaries: writing it and recognizing it.
//
// A block counts as written by this program if it has the program's mark, or if it is the only part of a message with
// instructions, which no user and no tool can write; the caller checks that no text precedes it. The block states the number
// of the interaction after it, so a summarized transcript contains all the state that is needed to summarize it again.

const OPENING: &str = "<conversation_summaries next=";
const OPEN: &str = "<conversation_summaries next=\"";
const CLOSE: &str = "\n</conversation_summaries>";
const NOTE: &str =
    "What was said before the messages below, newest first. Ranges count what the user and the assistant said.";

/// The text of the block: the summaries of `memory`, newest first. The messages after it begin with interaction number
/// `next`.
fn write_block(memory: &RollingState, next: usize) -> String {
    let mut text = format!("{OPEN}{next}\">\n{NOTE}");
    for summary in memory.summaries.iter().rev() {
        let InteractionRange { start, end } = summary.range.span;
        let text_inside = escape(&summary.text);
        // Writing to a string cannot fail.
        let _ = write!(text, "\n\n<summary from=\"{start}\" to=\"{end}\">\n{text_inside}\n</summary>");
    }
    text + CLOSE
}

/// A block in a message.
struct FoundBlock {
    /// The index of its part.
    part: usize,
    /// The state that it contains.
    state: StateSoFar,
}

/// The first block in a message: a part that this program wrote, or the only part of a message with instructions.
fn find_block(message: &Message<'_>) -> Option<FoundBlock> {
    let instructions = message.role.instructs() && message.parts.len() == 1;
    let count = own_blocks(message).max(usize::from(instructions));
    let is_own = |part: &Part<'_>| instructions || is_own_block(part, OPENING);
    let mut parts = message.parts.iter().take(count).enumerate().filter(|(_, part)| is_own(part));
    parts.find_map(|(nth, part)| Some(FoundBlock { part: nth, state: read_block(part)? }))
}

/// The state in a part; `None` if it is not a block.
fn read_block(part: &Part<'_>) -> Option<StateSoFar> {
    let Content::Text(text) = &part.content else { return None };
    if text.len_bound() < OPEN.len() {
        return None;
    }
    let text = text.decode();
    let (next, rest) = text.strip_prefix(OPEN)?.strip_suffix(CLOSE)?.split_once("\">\n")?;
    let mut blocks = rest.split("\n\n<summary from=\"");
    (blocks.next()? == NOTE).then_some(())?;
    let mut summaries = blocks.map(summary).collect::<Option<Vec<_>>>()?;
    summaries.reverse();
    Some(StateSoFar { state: RollingState { seen: 0, summaries }, next: next.parse().ok()? })
}

/// The summary in one `<summary …>` element, whose beginning was split off.
fn summary(block: &str) -> Option<Summary> {
    let (range, text) = block.strip_suffix("\n</summary>")?.split_once("\">\n")?;
    let (start, end) = range.split_once("\" to=\"")?;
    let span = InteractionRange { start: start.parse().ok()?, end: end.parse().ok()? };
    Some(Summary { range: SummaryRange::from(span), text: unescape(text), facts: Facts::default(), ts: None })
}

/// The tags of the block that a summary must not contain, without `<`.
const TAGS: [&str; 3] = ["summary", "/summary", "/conversation_summaries"];

/// `text` with a `\` after the `<` of anything that reads as a tag of the block.
fn escape(text: &str) -> String {
    rewritten(text, |after, out| {
        out.push_str("<\\");
        after
    })
}

/// Reverses [`escape`].
fn unescape(text: &str) -> String {
    rewritten(text, |after, out| {
        out.push('<');
        after.strip_prefix('\\').unwrap_or(after)
    })
}

/// Copies `text`, but calls `write` for the `<` of every tag, escaped or not. `write` gets the text after the `<`, and returns
/// the text that remains to be copied.
fn rewritten(text: &str, write: impl for<'t> Fn(&'t str, &mut String) -> &'t str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        let tag = after.trim_start_matches('\\');
        rest = match TAGS.iter().any(|wanted| reads_as(tag, wanted)) {
            true => write(after, &mut out),
            false => {
                out.push('<');
                after
            }
        };
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::{escape, unescape};

    #[test]
    fn no_summary_closes_its_block() {
        for (text, escaped) in [
            ("</summary>", "<\\/summary>"),
            ("</SUMMARY>", "<\\/SUMMARY>"),
            ("<\u{200b}/ sum\u{ad}mary>", "<\\\u{200b}/ sum\u{ad}mary>"),
            ("<\\/summary>", "<\\\\/summary>"),
            ("</conversation_\u{fe0f}summaries>", "<\\/conversation_\u{fe0f}summaries>"),
            ("a < b <c>", "a < b <c>"),
        ] {
            assert_eq!((escape(text).as_str(), unescape(escaped).as_str()), (escaped, text));
        }
    }
}
