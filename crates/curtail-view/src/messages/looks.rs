//! Messages in a row that only look at something, folded into a line.

use maud::{Markup, html};

use super::Chat;
use super::filters::distinct_lines;
use crate::visible::{Shown, short};
use curtail_core::numbers::tally;
use curtail_core::transcript::{Content, Part, PartRef, Role};

/// So many calls in a row that only look at something are folded into a line.
const MIN_LOOKS: usize = 3;
/// So many messages without a call end a line: those behind it are looked at once, and not again for each of them.
const MAX_THOUGHTS: usize = 16;
/// How many names of what they look at are on it.
const MAX_NAMES: usize = 4;

impl Chat<'_, '_> {
    /// The messages at the beginning of `rows` that only look at something, if they are folded into a line. They end before
    /// message `turn`.
    pub(super) fn looks<'r>(&self, rows: &'r [usize], turn: Option<usize>) -> &'r [usize] {
        let state = self.conversation.state(rows[0]);
        let mut calls = 0;
        let mut end = 0;
        for (nth, &at) in rows.iter().enumerate() {
            let is_near = nth < end + MAX_THOUGHTS && turn.is_none_or(|turn| at < turn);
            let goes_on = nth == 0 || is_near && self.conversation.drafts(at).is_empty();
            let Some(looks) = self.looks_in(at).filter(|_| goes_on && self.conversation.state(at) == state) else {
                break;
            };
            calls += looks;
            if looks > 0 {
                end = nth + 1;
            }
        }
        if calls >= MIN_LOOKS { &rows[..end] } else { &[] }
    }

    /// The number of calls of a message that only looks at something; `None` if it does anything else, or fails.
    fn looks_in(&self, at: usize) -> Option<usize> {
        let message = &self.conversation.messages[at];
        if message.role != Role::Assistant || message.begins_context() || self.loose.contains_key(&at) {
            return None;
        }
        let mut parts = message.parts.iter().enumerate();
        let only_looks = parts.all(|(nth, part)| self.is_quiet(PartRef { message: at, part: nth }, part));
        only_looks.then(|| message.calls().count())
    }

    /// Whether nothing is missed of a part that is folded away.
    fn is_quiet(&self, at: PartRef, part: &Part<'_>) -> bool {
        match &part.content {
            Content::Reasoning(_) => true,
            Content::Text(text) => text.is_blank(),
            Content::ToolCall(_) => self.only_looks(at),
            _ => false,
        }
    }

    fn only_looks(&self, call: PartRef) -> bool {
        let result = self.counterpart(call).and_then(|result| self.conversation.part(result).content.result());
        self.calls.get(&call).is_some_and(|sketch| sketch.look.is_some())
            && result.is_some_and(|result| result.media == 0)
            && !self.conversation.is_failed(call)
            && !self.has_agents(call)
    }

    /// The messages below the line that stands for them; `before` wrote what is above it.
    pub(super) fn folded_looks(&self, messages: &[usize], before: Option<&'static str>) -> Markup {
        let writers = messages.iter().map(|at| Some(self.conversation.writer(*at)));
        let above = std::iter::once(before).chain(writers);
        html! {
            details class={ "looks " (self.conversation.state(messages[0]).name()) } {
                (self.summary_of_looks(messages))
                @for (at, before) in messages.iter().zip(above) { (self.message(*at, before)) }
            }
        }
    }

    /// The line that stands for calls that only look at something.
    fn summary_of_looks(&self, messages: &[usize]) -> Markup {
        let calls: Vec<PartRef> = messages.iter().flat_map(|&at| self.calls_of(at)).collect();
        let looks = calls.iter().filter_map(|call| self.calls.get(call)?.look.as_ref());
        let names = distinct_lines(looks.clone().map(|(_, name)| name));
        let names: Vec<&str> = names.lines().collect();
        let results = calls.iter().filter_map(|call| self.counterpart(*call));
        let tokens = calls.iter().copied().chain(results).map(|at| self.tokens(at)).sum();
        let counts = tally(looks.map(|(look, _)| *look)).into_iter().map(|(look, count)| look.counted(count));
        html! {
            summary {
                b { (counts.collect::<Vec<_>>().join(", ")) } " "
                span class="preview" {
                    (Shown(&names[..names.len().min(MAX_NAMES)].join(" · ")))
                    @if names.len() > MAX_NAMES { " and " (names.len() - MAX_NAMES) " more" }
                }
                " " span class="tokens" { (short(tokens)) " tokens" }
            }
        }
    }
}
