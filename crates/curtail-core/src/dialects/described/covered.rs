//! Which bytes of a message are in a part already.

use std::collections::BTreeMap;

use crate::json::Span;

/// The spans of values: any two are apart, or one is inside the other.
#[derive(Default)]
pub(super) struct Covered {
    /// Of the outermost of them, where each begins and ends.
    outermost: BTreeMap<u32, u32>,
}

impl Covered {
    pub(super) fn add(&mut self, span: Span) {
        if self.has(span) {
            return;
        }
        let inside: Vec<u32> = self.outermost.range(span.start..span.end).map(|(start, _)| *start).collect();
        for start in inside {
            self.outermost.remove(&start);
        }
        self.outermost.insert(span.start, span.end);
    }

    /// Whether `span` is one of them or inside one.
    pub(super) fn has(&self, span: Span) -> bool {
        let before = self.outermost.range(..=span.start).next_back();
        before.is_some_and(|(_, end)| span.end <= *end)
    }

    /// Whether one of them is in `span`.
    pub(super) fn has_in(&self, span: Span) -> bool {
        self.outermost.range(span.start..span.end).next().is_some()
    }
}

impl Extend<Span> for Covered {
    fn extend<T: IntoIterator<Item = Span>>(&mut self, spans: T) {
        for span in spans {
            self.add(span);
        }
    }
}

impl FromIterator<Span> for Covered {
    fn from_iter<T: IntoIterator<Item = Span>>(spans: T) -> Self {
        let mut covered = Self::default();
        covered.extend(spans);
        covered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_inside_others_and_around_them_are_covered_whatever_their_order() {
        let spans = [(0, 100), (10, 20), (12, 14), (30, 40)].map(|(start, end)| Span::new(start, end));
        for turn in 0..spans.len() {
            let mut order = spans;
            order.rotate_left(turn);
            let covered: Covered = order.into_iter().collect();
            assert!(covered.has(Span::new(35, 50)) && covered.has(Span::new(0, 100)), "{turn}");
            assert!(!covered.has(Span::new(90, 101)), "{turn}");
        }
        let covered: Covered = spans[1..].iter().copied().collect();
        let asked = [(10, 20), (15, 16), (39, 40), (20, 30), (0, 10), (5, 25)];
        let found = asked.map(|(start, end)| covered.has(Span::new(start, end)));
        assert_eq!(found, [true, true, true, false, false, false]);
    }
}
