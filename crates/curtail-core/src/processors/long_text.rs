//! Texts that can be shortened, and how long their new text may be.

use crate::json::quote;
use crate::transcript::{Content, Part, PartOrigin, PartRef};

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
