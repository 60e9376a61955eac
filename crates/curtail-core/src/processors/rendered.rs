//! Ends a window where it fits as a template renders it. The total of a template is not the sum of its messages, so sums only
//! propose an end.

use super::ProcessorError;
use super::filling::Filler;
use super::rendering::Rendering;
use super::split::SplitWindow;

impl Filler<'_, '_, '_> {
    /// The window that sums propose, as it fits when it is rendered, with the segment after it. Messages that lead to a
    /// target get a window without it if the target fits only without them.
    pub(super) fn rendered(
        &self,
        rendering: &Rendering<'_>,
        at: usize,
        target: usize,
        limit: usize,
        proposed: &SplitWindow,
        end: usize,
    ) -> Result<(SplitWindow, usize), ProcessorError> {
        let smallest = self.context(at, usize::MAX).window;
        // Where twice as much as the sums propose does not fit and does not reach the target, all that leads to it is not rendered.
        let probe = at + 2 * (end - at);
        let is_far = probe <= target && self.tokens_if_fits(rendering, &self.until(&smallest, at, probe)).is_none();
        if !is_far && let Some(fitting) = self.fit_rendered(rendering, at, target, limit, proposed.clone(), end) {
            return Ok(fitting);
        }
        let alone = SplitWindow { own: self.segments[target].clone(), ..self.context(target, usize::MAX).window };
        if at == target || self.tokens_if_fits(rendering, &alone).is_none() {
            return Ok((self.rendered_overflow(rendering, self.until(proposed, at, target + 1))?, target + 1));
        }
        // More messages render to more tokens, so the longest window is between one that fits and one that does not.
        let mut longest = None;
        let mut fits = at;
        let mut exceeds = if is_far { probe } else { target + 1 };
        while exceeds - fits > 1 {
            let end = fits.midpoint(exceeds);
            let window = self.until(&smallest, at, end);
            match self.tokens_if_fits(rendering, &window) {
                Some(tokens) => {
                    longest = Some((SplitWindow { tokens, ..window }, end));
                    fits = end;
                }
                None => exceeds = end,
            }
        }
        if let Some(longest) = longest {
            return Ok(longest);
        }
        Ok((self.rendered_overflow(rendering, self.until(&smallest, at, at + 1))?, at + 1))
    }

    /// A window that does not fit, with the tokens that it renders to. Where the template refuses it, its note says so, and its
    /// tokens are their sum.
    fn rendered_overflow(&self, rendering: &Rendering<'_>, window: SplitWindow) -> Result<SplitWindow, ProcessorError> {
        let messages = window.messages();
        let rendered = rendering.tokens(messages.iter().copied());
        let tokens = match rendered {
            Ok(tokens) => tokens,
            Err(_) => self.outside + messages.into_iter().map(|at| self.tokens[at]).sum::<usize>(),
        };
        let mut window = self.split.overflow(self.view, SplitWindow { tokens, ..window })?;
        if let (Err(refusal), Some(note)) = (rendered, &mut window.note) {
            note.push_str(&format!("; its tokens are estimated: {refusal}"));
        }
        Ok(window)
    }

    /// `window` with the own messages from segment `at` up to segment `end`.
    fn until(&self, window: &SplitWindow, at: usize, end: usize) -> SplitWindow {
        SplitWindow { own: self.segments[at].start..self.segments[end - 1].end, ..window.clone() }
    }

    /// Tokens of a window as it is rendered, if it fits.
    fn tokens_if_fits(&self, rendering: &Rendering<'_>, window: &SplitWindow) -> Option<usize> {
        rendering.tokens_within(self.split.max_tokens, window.messages().into_iter())
    }

    /// The window whose own messages begin at segment `at` and fit as they are rendered, with the segment after it. Sums
    /// propose that it ends at `end`; it contains the segment `target`. `None` if not even that fits.
    fn fit_rendered(
        &self,
        rendering: &Rendering<'_>,
        at: usize,
        target: usize,
        limit: usize,
        proposed: SplitWindow,
        end: usize,
    ) -> Option<(SplitWindow, usize)> {
        let mut window = proposed;
        let mut end = end.max(target + 1);
        let mut tokens = self.tokens_if_fits(rendering, &self.until(&window, at, end));
        while end > target + 1 && tokens.is_none() {
            end = self.last_target(at, end - 1).max(target + 1);
            tokens = self.tokens_if_fits(rendering, &self.until(&window, at, end));
        }
        if tokens.is_none() {
            // Without overlap, before it is too long for any window.
            window = self.context(at, usize::MAX).window;
            tokens = self.tokens_if_fits(rendering, &self.until(&window, at, end));
        }
        let mut tokens = tokens?;
        while end < limit {
            let further = self.first_target(end, limit).map_or(limit, |segment| segment + 1);
            let Some(more) = self.tokens_if_fits(rendering, &self.until(&window, at, further)) else { break };
            (end, tokens) = (further, more);
        }
        Some((SplitWindow { tokens, ..self.until(&window, at, end) }, end))
    }
}
