//! Shortens a segment: its longest texts first, in the middle. And which texts can be shortened, and how long their new text may be.

use super::{Counting, View};
use crate::counting::Tokenizer;
use crate::dialects::reports_failure;
use crate::json::quote;
use crate::transcript::{Content, Message, Part, PartOrigin, PartRef};

/// Replaces the removed middle.
const MARKER: &str = "\n[… shortened …]\n";

/// The new texts that shorten the messages of `view` at `indices`, without the parts that are `dropped`, to `budget` tokens; `None`
/// if they cannot be shortened that far, or if nothing would be left of what somebody said.
///
/// All texts are cut to one cap, so the longest ones shrink first. With texts of 10, 40 and 100 tokens and room for 90, the
/// cap is 40: the third text shrinks to 40 tokens and the other two are not changed.
pub(super) fn shorten(
    view: &View<'_, '_>,
    indices: &[usize],
    dropped: impl Fn(PartRef) -> bool,
    budget: usize,
    counting: &Counting,
) -> Option<Vec<(PartRef, String)>> {
    let messages = view.messages;
    let remaining = indices
        .iter()
        .map(|&message| counting.message_without(&messages[message], |part| dropped(PartRef { message, part })));
    let total: usize = remaining.sum();
    let shortener =
        Shortener { texts: long_texts(messages, indices, dropped, counting), tokenizer: &*counting.tokenizer };
    let shortened = shortener.shortened(budget.checked_sub(total - shortener.tokens())?)?;
    let mut rewrites = Vec::new();
    for (long_text, text) in shortener.texts.iter().zip(shortened) {
        let Some(text) = text else { continue };
        let is_emptied = text.trim().is_empty() && !long_text.text.trim().is_empty();
        if is_emptied && has_to_say(view, long_text.at.part_in(messages)) {
            return None;
        }
        rewrites.push((long_text.at, text));
    }
    Some(rewrites)
}

/// Whether something has to be left of the text of a part. A result may say nothing, and providers refuse a message that does,
/// some also a failure.
fn has_to_say(view: &View<'_, '_>, part: &Part<'_>) -> bool {
    matches!(part.content, Content::Text(_)) || view.rules.pairing.failures_need_text && reports_failure(part)
}

/// The texts of the messages that can be shortened. Their tokens are without those that are estimated beside them, which stay
/// when a text is rewritten.
fn long_texts(
    messages: &[Message<'_>],
    indices: &[usize],
    dropped: impl Fn(PartRef) -> bool,
    counting: &Counting,
) -> Vec<LongText> {
    let mut texts = Vec::new();
    for &message in indices {
        for (nth, part) in messages[message].parts.iter().enumerate() {
            let at = PartRef { message, part: nth };
            if let Some((text, most)) = shortenable(part).filter(|_| !dropped(at)) {
                texts.push(LongText { at, text, tokens: counting.content(&part.content), most });
            }
        }
    }
    texts
}

/// Shortens several texts to a sum of tokens.
struct Shortener<'c> {
    texts: Vec<LongText>,
    tokenizer: &'c dyn Tokenizer,
}

impl Shortener<'_> {
    /// Tokens of all texts.
    fn tokens(&self) -> usize {
        self.texts.iter().map(|long_text| long_text.tokens).sum()
    }

    /// The new texts, with at most `room` tokens together with those that need none: a text that has none stays as it is.
    fn shortened(&self, room: usize) -> Option<Vec<Option<String>>> {
        let mut cap = self.water_level(room);
        loop {
            let mut shortened: Vec<Option<String>> =
                self.texts.iter().map(|long_text| self.middle_out(long_text, cap)).collect();
            let counts = self.texts.iter().zip(&shortened).map(|(long_text, text)| match text {
                Some(text) => self.tokenizer.count(text),
                None => long_text.tokens,
            });
            let sum: usize = counts.sum();
            if sum <= room {
                self.refill(&mut shortened, room - sum);
                return Some(shortened);
            }
            // Tokens may merge differently at a cut: lower the cap until the sum fits.
            cap = cap.checked_sub(1 + (sum - room) / self.texts.len().max(1))?;
        }
    }

    /// The highest cap for which all texts, cut to it, need at most `room` tokens.
    fn water_level(&self, room: usize) -> usize {
        largest(room.saturating_add(1), |cap| {
            self.texts.iter().map(|long_text| long_text.tokens.min(cap)).sum::<usize>() <= room
        })
    }

    /// Gives the `left` tokens to shortened texts, the first one first. A text may be below its cap, because its cut would have
    /// made it longer in bytes, or because the cap was lowered for another one.
    fn refill(&self, shortened: &mut [Option<String>], mut left: usize) {
        for (long_text, text) in self.texts.iter().zip(shortened) {
            let Some(now) = text.as_ref().map(|text| self.tokenizer.count(text)).filter(|_| left > 0) else { continue };
            if long_text.tokens <= now + left {
                left -= long_text.tokens.saturating_sub(now);
                *text = None;
                continue;
            }
            let Some(longer) = self.middle_out(long_text, now + left) else { continue };
            let more = self.tokenizer.count(&longer).checked_sub(now);
            if let Some(more) = more.filter(|more| (1..=left).contains(more)) {
                left -= more;
                *text = Some(longer);
            }
        }
    }

    /// `long_text` cut to `cap` tokens, marker included, and to fewer where the JSON string would be longer than what it replaces;
    /// `None` if it already fits or cannot become shorter.
    fn middle_out(&self, long_text: &LongText, cap: usize) -> Option<String> {
        if long_text.tokens <= cap {
            return None;
        }
        // Few tokens may be fewer bytes than the marker in their place, and no cut may make a transcript longer: then more is
        // cut, but no more than the marker needs.
        self.cut_middle(long_text, cap).or_else(|| {
            let smaller = largest(cap, |cap| self.cut_middle(long_text, cap).is_some());
            self.cut_middle(long_text, smaller)
        })
    }

    /// `long_text` cut to `cap` tokens, marker included; `None` if it would be longer in bytes.
    fn cut_middle(&self, long_text: &LongText, cap: usize) -> Option<String> {
        let text = &long_text.text;
        let cut = match cap.checked_sub(self.tokenizer.count(MARKER)) {
            Some(room) => {
                let head = self.tokenizer.head(text, room.div_ceil(2));
                let tail = self.tokenizer.tail(text, room / 2).max(head);
                format!("{}{MARKER}{}", &text[..head], &text[tail..])
            }
            None => text[..self.tokenizer.head(text, cap)].to_owned(),
        };
        long_text.holds(&cut).then_some(cut)
    }
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

/// A text that can be shortened.
pub(super) struct LongText {
    pub(super) at: PartRef,
    pub(super) text: String,
    pub(super) tokens: usize,
    /// The largest number of bytes that the text may take as a JSON string: what it takes now. A result that is a list or an
    /// object can be shorter there than its text.
    pub(super) most: usize,
}

impl LongText {
    /// Whether `text` takes fewer bytes than it.
    pub(super) fn holds(&self, text: &str) -> bool {
        text.len() < self.most && quote(text).len() <= self.most
    }
}

/// The text of a part, and the largest number of bytes that it may take as a JSON string.
pub(super) fn shortenable(part: &Part<'_>) -> Option<(String, usize)> {
    let most = match &part.origin {
        PartOrigin::Source(place) | PartOrigin::Rewritten(place) | PartOrigin::Moved(place) => {
            let rewrite = place.rewrite?;
            rewrite.span.len().checked_sub(rewrite.spelled(0))?
        }
        PartOrigin::Draft(_) | PartOrigin::Block(_) => usize::MAX,
    };
    match &part.content {
        Content::Text(text) => Some((text.decode().into_owned(), most)),
        Content::ToolResult(result) if result.media == 0 => {
            let texts: Vec<_> = result.content.iter().map(|text| text.decode()).collect();
            Some((texts.join("\n"), most))
        }
        _ => None,
    }
}
