//! Shortens a text to a budget and keeps its beginning. It knows lines and words; a code fence is kept whole or dropped.

use unicode_segmentation::UnicodeSegmentation;

use super::Budget;
use curtail_facts::{FenceLine, Fences};

/// Marks the end of a text whose rest was dropped.
const MARK: &str = " …";

/// More bytes than the longest token of a public vocabulary has.
const LONGEST_TOKEN: usize = 512;

/// `text` if it is within the budget; else as many of its first lines as fit, then as many words of the next line.
/// If a fenced block does not fit, the text ends before it; of a text that begins with it, the block's lines are kept.
pub fn clip(text: &str, budget: &Budget<'_>) -> String {
    fitted(text, "", budget)
}

/// `text`, which a server cut short, with the mark and within the budget.
pub(super) fn cut_short(text: &str, budget: &Budget<'_>) -> String {
    fitted(text, MARK, budget)
}

/// `text` and `end`, or as much of `text` as fits.
fn fitted(text: &str, end: &str, budget: &Budget<'_>) -> String {
    let whole = text.trim();
    let text = within_bytes(whole, budget);
    let all = format!("{text}{end}");
    if text.len() == whole.len() && budget.holds(&all) { all } else { shortened(text, budget) }
}

/// The beginning of `text` that is counted at all: a server can answer with megabytes, and counting them takes many times
/// longer than receiving them. No text within the budget is longer, unless the tokenizer treats every word as one token.
fn within_bytes<'t>(text: &'t str, budget: &Budget<'_>) -> &'t str {
    let most = budget.tokens.saturating_mul(LONGEST_TOKEN).saturating_add(LONGEST_TOKEN);
    &text[..text.floor_char_boundary(most)]
}

/// The beginning of `text` that fits with the mark.
fn shortened(text: &str, budget: &Budget<'_>) -> String {
    let (whole, next) = leading_blocks(text, budget);
    let rest = &text[whole..next];
    let (first, others) = rest.split_once('\n').unwrap_or((rest, ""));
    if Fences::default().take(first) == FenceLine::Outside {
        return marked(&text[..whole + leading_words(text, whole, rest, budget)], budget);
    }
    // Some models put their whole answer into a fence.
    if whole == 0 { shortened(others.trim(), budget) } else { marked(&text[..whole], budget) }
}

/// The end of the last block that fits with the mark, and the end of the one after it.
fn leading_blocks(text: &str, budget: &Budget<'_>) -> (usize, usize) {
    let ends = block_ends(text);
    let count = ends.partition_point(|end| budget.holds(&with_mark(&text[..*end])));
    let whole = count.checked_sub(1).map_or(0, |last| ends[last]);
    (whole, ends.get(count).copied().unwrap_or(text.len()))
}

/// The end of each line or fenced block.
fn block_ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut at = 0;
    let mut fences = Fences::default();
    for line in text.split_inclusive('\n') {
        if fences.take(line) != FenceLine::Inside && at > 0 {
            ends.push(at);
        }
        at += line.len();
    }
    if !fences.is_open() {
        ends.push(at);
    }
    ends
}

/// How many bytes of `rest`, which starts at `start`, fit as whole words. If not even the first word fits at the start of the
/// text, as whole characters.
fn leading_words(text: &str, start: usize, rest: &str, budget: &Budget<'_>) -> usize {
    let fits = |end: &usize| budget.holds(&with_mark(&text[..start + *end]));
    let words: Vec<usize> = rest.split_word_bound_indices().map(|(at, word)| at + word.len()).collect();
    let count = words.partition_point(fits);
    if count > 0 || start > 0 {
        return count.checked_sub(1).map_or(0, |last| words[last]);
    }
    let letters: Vec<usize> = rest.grapheme_indices(true).map(|(at, _)| at).collect();
    let count = letters.partition_point(fits);
    count.checked_sub(1).map_or(0, |last| letters[last])
}

fn with_mark(text: &str) -> String {
    format!("{}{MARK}", text.trim_end())
}

/// Adds the mark. A longer text may have fewer tokens, so the result is counted once more and shortened until it fits.
fn marked(text: &str, budget: &Budget<'_>) -> String {
    let mut kept = text.trim_end();
    loop {
        let shown = if kept.is_empty() { String::new() } else { with_mark(kept) };
        if shown.is_empty() || budget.holds(&shown) {
            return shown;
        }
        kept = kept.rsplit_once(char::is_whitespace).map_or("", |(head, _)| head.trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::{clip, cut_short};
    use crate::summarizers::Budget;

    fn clipped(text: &str, tokens: usize) -> String {
        let count = |text: &str| text.split_whitespace().count();
        clip(text, &Budget { tokens, count: &count })
    }

    #[test]
    fn cuts_at_lines_then_words() {
        for (text, tokens, expected) in [
            (" one two ", 2, "one two"),
            ("one two\nthree four", 3, "one two …"),
            ("one two\nthree four five", 4, "one two\nthree …"),
            ("one two three", 1, ""),
            ("one two three", 0, ""),
            ("a\n```\nb c\n```\nd", 3, "a …"),
            ("a\n```\nb c\n```\nd e", 6, "a\n```\nb c\n``` …"),
            ("```ls``` was run\nx y z", 5, "```ls``` was run\nx …"),
            ("```md\n# Goal\nto go to Rome\n```", 6, "# Goal\nto go to …"),
            ("```md\n# Goal\n```\nto go", 3, "# Goal …"),
            ("````\n```\na b\n```\n````", 3, "a b …"),
            ("a\n- ```\n  b c\n  ```\nd e", 4, "a …"),
            ("- ```\n  b c\nd e f", 6, "- ```\n  b c\nd …"),
            ("", 0, ""),
        ] {
            assert_eq!(clipped(text, tokens), expected, "{text:?} to {tokens}");
        }
    }

    /// However long an answer is, only the part of it that could fit is counted.
    #[test]
    fn a_long_answer_is_counted_only_as_far_as_it_could_fit() {
        let counted = std::sync::atomic::AtomicUsize::new(0);
        let count = |text: &str| {
            counted.fetch_add(text.len(), std::sync::atomic::Ordering::Relaxed);
            text.len().div_ceil(4)
        };
        for text in ["a".repeat(4 << 20), "a b ".repeat(1 << 20), "a\n".repeat(2 << 20), "é".repeat(2 << 20)] {
            counted.store(0, std::sync::atomic::Ordering::Relaxed);
            let clipped = clip(&text, &Budget { tokens: 20, count: &count });
            assert!(clipped.ends_with(" …") && clipped.len() <= 80, "{clipped}");
            let bytes = counted.load(std::sync::atomic::Ordering::Relaxed);
            assert!(bytes < 500_000, "{bytes} bytes were counted of {}", text.len());
        }
    }

    #[test]
    fn a_word_longer_than_the_budget_is_cut_at_a_character() {
        let count = |text: &str| text.chars().count();
        let budget = Budget { tokens: 5, count: &count };
        assert_eq!(clip("ありがとうございます", &budget), "ありが …");
        assert_eq!(cut_short("ありがと", &budget), "ありが …");
    }
}
