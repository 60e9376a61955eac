//! Shortens a segment: its longest texts first, in the middle.

use super::Counting;
use super::shorten::{LongText, shortenable};
use crate::counting::Tokenizer;
use crate::transcript::{Message, PartRef};

/// Replaces the removed middle.
const MARKER: &str = "\n[… shortened …]\n";

/// The new texts that shorten the messages at `indices`, without the parts that are `dropped`, to `budget` tokens; `None` if they
/// cannot be shortened that far.
///
/// All texts are cut to one cap, so the longest ones shrink first. With texts of 10, 40 and 100 tokens and room for 90, the
/// cap is 40: the third text shrinks to 40 tokens and the other two are not changed.
pub(super) fn shorten(
    messages: &[Message<'_>],
    indices: &[usize],
    dropped: impl Fn(PartRef) -> bool,
    budget: usize,
    counting: &Counting,
) -> Option<Vec<(PartRef, String)>> {
    let remaining =
        |&at: &usize| counting.message_without(&messages[at], |part| dropped(PartRef { message: at, part }));
    let total: usize = indices.iter().map(remaining).sum();
    let texts = long_texts(messages, indices, &dropped, counting);
    let text_tokens: usize = texts.iter().map(|long_text| long_text.tokens).sum();
    let room = budget.checked_sub(total - text_tokens)?;
    let mut cap = water_level(&texts, room);
    loop {
        let mut shortened: Vec<Option<String>> =
            texts.iter().map(|long_text| middle_out(long_text, cap, counting)).collect();
        let count = |(long_text, text): (&LongText, &Option<String>)| {
            text.as_ref().map_or(long_text.tokens, |text| counting.tokenizer.count(text))
        };
        let sum: usize = texts.iter().zip(&shortened).map(count).sum();
        if sum <= room {
            refill(&texts, &mut shortened, room - sum, counting);
            let rewrites = texts.iter().zip(shortened).filter_map(|(long_text, text)| Some((long_text.at, text?)));
            return Some(rewrites.collect());
        }
        // Tokens may merge differently at a cut: lower the cap until the sum fits.
        cap = cap.checked_sub(1 + (sum - room) / texts.len().max(1))?;
    }
}

/// Gives the `left` tokens to shortened texts, the first one first. A text may be below its cap, because its cut would have
/// made it longer in bytes, or because the cap was lowered for another one.
fn refill(texts: &[LongText], shortened: &mut [Option<String>], mut left: usize, counting: &Counting) {
    for (long_text, text) in texts.iter().zip(shortened) {
        let Some(now) = text.as_ref().map(|text| counting.tokenizer.count(text)).filter(|_| left > 0) else { continue };
        if long_text.tokens <= now + left {
            left -= long_text.tokens.saturating_sub(now);
            *text = None;
            continue;
        }
        let Some(longer) = middle_out(long_text, now + left, counting) else { continue };
        let more = counting.tokenizer.count(&longer).checked_sub(now);
        if let Some(more) = more.filter(|more| (1..=left).contains(more)) {
            left -= more;
            *text = Some(longer);
        }
    }
}

fn long_texts(
    messages: &[Message<'_>],
    indices: &[usize],
    dropped: impl Fn(PartRef) -> bool,
    counting: &Counting,
) -> Vec<LongText> {
    let mut texts = Vec::new();
    for &at in indices {
        for (nth, part) in messages[at].parts.iter().enumerate() {
            let at = PartRef { message: at, part: nth };
            if let Some((text, most)) = shortenable(part).filter(|_| !dropped(at)) {
                let tokens = counting.part(part);
                texts.push(LongText { at, text, tokens, most });
            }
        }
    }
    texts
}

/// The highest cap for which all texts, cut to it, need at most `room` tokens.
fn water_level(texts: &[LongText], room: usize) -> usize {
    let filled = |cap: usize| texts.iter().map(|long_text| long_text.tokens.min(cap)).sum::<usize>();
    largest(room.saturating_add(1), |cap| filled(cap) <= room)
}

/// The largest number below `end` for which `holds`, as it does for 0.
fn largest(end: usize, holds: impl Fn(usize) -> bool) -> usize {
    let mut low = 0;
    let mut high = end;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

/// `long_text` cut to `cap` tokens, marker included, and to fewer where the JSON string would be longer than what it replaces;
/// `None` if it already fits or cannot become shorter.
fn middle_out(long_text: &LongText, cap: usize, counting: &Counting) -> Option<String> {
    if long_text.tokens <= cap {
        return None;
    }
    let cut =
        |cap: usize| Some(cut_middle(&long_text.text, cap, &*counting.tokenizer)).filter(|text| long_text.holds(text));
    // The largest cap at which what is cut is longer than the marker.
    cut(cap).or_else(|| cut(largest(cap, |cap| cut(cap).is_some())))
}

fn cut_middle(text: &str, cap: usize, tokenizer: &dyn Tokenizer) -> String {
    let Some(room) = cap.checked_sub(tokenizer.count(MARKER)) else {
        return text[..tokenizer.head(text, cap)].to_owned();
    };
    let head = tokenizer.head(text, room.div_ceil(2));
    let tail = tokenizer.tail(text, room / 2).max(head);
    format!("{}{MARKER}{}", &text[..head], &text[tail..])
}
