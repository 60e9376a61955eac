//! Ends a window where it fits as a template renders it. The total of a template is not the sum of its messages, so sums only
//! propose an end.

use super::SplitWindow;
use super::fill::Filler;
use crate::processors::ProcessorError;
use crate::processors::planning::Rendering;

impl Filler<'_, '_, '_> {
    /// The window that sums propose, as it fits when it is rendered, with the segment after it. Messages that lead to a
    /// target get a window without it if the target fits only without them.
    pub(super) fn rendered(
        &self,
        rendering: &Rendering<'_>,
        (at, target): (usize, usize),
        limit: usize,
        (proposed, end): (SplitWindow, usize),
    ) -> Result<(SplitWindow, usize), ProcessorError> {
        if let Some(fitting) = self.fit_rendered(rendering, (at, target), limit, (proposed.clone(), end)) {
            return Ok(fitting);
        }
        let budget = self.split.max_tokens;
        let start = self.segments[at].start;
        let own =
            |window: &SplitWindow, end: usize| SplitWindow { own: start..self.segments[end - 1].end, ..window.clone() };
        let alone = SplitWindow { own: self.segments[target].clone(), ..self.context(target, usize::MAX).window };
        if at == target || !rendering.fits(alone.messages().into_iter(), budget) {
            return Ok((self.split.overflow(self.view, own(&proposed, target + 1))?, target + 1));
        }
        let smallest = self.context(at, usize::MAX).window;
        for end in (at + 1..=target).rev() {
            let window = own(&smallest, end);
            if let Some(tokens) =
                rendering.tokens(window.messages().into_iter()).ok().filter(|tokens| *tokens <= budget)
            {
                return Ok((SplitWindow { tokens, ..window }, end));
            }
        }
        Ok((self.split.overflow(self.view, own(&smallest, at + 1))?, at + 1))
    }

    /// The window whose own messages begin at segment `at` and fit as they are rendered, with the segment after it. Sums
    /// propose that it ends at `end`; it contains the segment `target`. `None` if not even that fits.
    pub(super) fn fit_rendered(
        &self,
        rendering: &Rendering<'_>,
        (at, target): (usize, usize),
        limit: usize,
        (proposed, end): (SplitWindow, usize),
    ) -> Option<(SplitWindow, usize)> {
        let own = |window: &SplitWindow, end: usize| {
            let range = self.segments[at].start..self.segments[end - 1].end;
            SplitWindow { own: range, ..window.clone() }
        };
        let fitting = |window: &SplitWindow, end: usize| {
            let tokens = rendering.tokens(own(window, end).messages().into_iter()).ok();
            tokens.filter(|tokens| *tokens <= self.split.max_tokens)
        };
        let (mut window, mut end) = (proposed, end.max(target + 1));
        let mut tokens = fitting(&window, end);
        while end > target + 1 && tokens.is_none() {
            end = self.last_target(at, end - 1).max(target + 1);
            tokens = fitting(&window, end);
        }
        if tokens.is_none() {
            // Without overlap, before it is too long for any window.
            window = self.context(at, usize::MAX).window;
            tokens = fitting(&window, end);
        }
        let mut tokens = tokens?;
        while end < limit {
            let further = (end..limit).find(|&segment| self.has_target(segment)).map_or(limit, |segment| segment + 1);
            let Some(more) = fitting(&window, further) else { break };
            (end, tokens) = (further, more);
        }
        Some((SplitWindow { tokens, ..own(&window, end) }, end))
    }
}
