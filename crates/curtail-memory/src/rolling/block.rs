//! The block of text that contains the summaries: writing it and recognizing it.
//!
//! A block counts as written by this program if it has the program's mark, or if it is the only part of a message with
//! instructions, which no user and no tool can write; the caller checks that no text precedes it. The block states the number
//! of the interaction after it, so a summarized transcript contains all the state that is needed to summarize it again.

use std::fmt::Write as _;

use super::{InteractionRange, RollingState, StateSoFar, Summary, SummaryRange};
use curtail_core::transcript::{Message, Part, is_own_block, own_blocks};
use curtail_core::visible::reads_as;
use curtail_facts::Facts;

const OPENING: &str = "<conversation_summaries next=";
const OPEN: &str = "<conversation_summaries next=\"";
const CLOSE: &str = "\n</conversation_summaries>";
const NOTE: &str =
    "What was said before the messages below, newest first. Ranges count what the user and the assistant said.";

/// The text of the block: the summaries of `memory`, newest first. The messages after it begin with interaction number
/// `next`.
pub(super) fn write_block(memory: &RollingState, next: usize) -> String {
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
pub(super) struct FoundBlock {
    /// The index of its part.
    pub(super) part: usize,
    /// The state that it contains.
    pub(super) state: StateSoFar,
}

/// The first block in a message: a part that this program wrote, or the only part of a message with instructions.
pub(super) fn find_block(message: &Message<'_>) -> Option<FoundBlock> {
    let instructions = message.role.instructs() && message.parts.len() == 1;
    let count = own_blocks(message).max(usize::from(instructions));
    let parts = message.parts.iter().take(count).enumerate();
    let mut own = parts.filter(|(_, part)| instructions || is_own_block(part, OPENING));
    own.find_map(|(nth, part)| Some(FoundBlock { part: nth, state: read_block(part)? }))
}

/// The state in a part; `None` if it is not a block.
fn read_block(part: &Part<'_>) -> Option<StateSoFar> {
    let text = part.content.text().filter(|text| text.len_bound() >= OPEN.len())?.decode();
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
