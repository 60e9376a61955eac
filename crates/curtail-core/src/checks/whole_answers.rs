//! What `--fix` leaves of a row to train on: its answers are not cut, and lists that repeat each other are not made different.

use super::{Detection, Fix, Mend};
use crate::json::Span;
use crate::transcript::Layout;

/// The messages of a row that only change inside, by their spans, in order.
pub(super) struct WholeAnswers {
    /// Those of the answers: none is dropped.
    uncut: Vec<Span>,
    /// Those between which nothing is moved: the same, and what several lists of the row repeat.
    apart: Vec<Span>,
}

impl WholeAnswers {
    pub(super) fn of(layout: &Layout<'_>) -> Self {
        let uncut = layout.answers.branches.iter().flatten().map(|value| value.span());
        let mut uncut: Vec<Span> = uncut.collect();
        uncut.sort_by_key(|span| span.start);
        let mut apart = uncut.clone();
        if !layout.answers.mirrors.is_empty() {
            apart.extend(layout.elements.iter().map(|element| element.span()));
            apart.sort_by_key(|span| span.start);
        }
        Self { uncut, apart }
    }

    /// Whether `--fix` mends `detection`, as far as the answers are concerned.
    pub(super) fn allow(&self, detection: &Detection<'_>) -> bool {
        if self.uncut.is_empty() || detection.fix() == Fix::No {
            return true;
        }
        let at = detection.at();
        match detection.mend(true) {
            Some(Mend::Edit { removed, written }) if !removed.is_empty() || !written.is_empty() => {
                let is_dropped = removed.iter().any(|value| around(&self.apart, value.span()) == Some(value.span()));
                let places = removed.iter().map(|value| value.span()).chain(written.iter().map(|patch| patch.span));
                let mut around = places.map(|span| around(&self.apart, span));
                let first = around.next();
                !is_dropped && around.all(|other| Some(other) == first)
            }
            Some(Mend::Cut(values)) => values.iter().all(|value| around(&self.uncut, value.span()).is_none()),
            Some(Mend::Edit { .. }) => at.is_none_or(|value| around(&self.apart, value.span()).is_none()),
            None => at.is_none_or(|value| around(&self.uncut, value.span()).is_none()),
        }
    }
}

/// The message that contains `span`.
fn around(messages: &[Span], span: Span) -> Option<Span> {
    let before = messages.partition_point(|message| message.start <= span.start);
    messages[..before].last().copied().filter(|message| span.end <= message.end)
}
