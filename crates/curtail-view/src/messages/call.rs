//! One call with its results inside, and a result whose call is elsewhere or missing.

use maud::{Markup, html};

use super::Chat;
use super::message::media;
use crate::effect::State;
use crate::output::output;
use crate::tools::{CallKind, arguments, other_arguments};
use crate::visible::{Shown, duration, line};
use curtail_core::json::Text;
use curtail_core::numbers::counted;
use curtail_core::transcript::{Content, Part, PartRef, ToolCall, ToolResult};

/// A call, as far as its results are drawn differently.
struct Called {
    at: PartRef,
    kind: CallKind,
    is_failed: bool,
    has_agents: bool,
}

impl Called {
    fn is_shell(&self) -> bool {
        matches!(self.kind, CallKind::Shell { .. })
    }
}

impl Chat<'_, '_> {
    pub(super) fn call(&self, at: PartRef, part: &Part<'_>, call: &ToolCall<'_>) -> Markup {
        let raw = call.arguments.decode();
        let called = Called {
            at,
            kind: CallKind::from_call(&call.name.decode(), &raw),
            is_failed: self.conversation.is_failed(at),
            has_agents: self.has_agents(at),
        };
        let Called { ref kind, is_failed, has_agents, .. } = called;
        html! {
            details class={ "call " (kind.class()) (if is_failed { " failed" } else { "" }) } open[kind.is_open() || is_failed || has_agents] {
                (self.call_summary(&called, call))
                (self.call_arguments(&called, &raw, self.byte(part)))
                @if has_agents { (self.agents(at, &raw)) }
                @for result in self.results(at) { (self.answer(&called, result)) }
            }
        }
    }

    /// The line of a call: its tool, what it is about, its tokens, and those of its result.
    fn call_summary(&self, called: &Called, call: &ToolCall<'_>) -> Markup {
        html! {
            summary {
                b { (Shown(&line(&call.name.decode(), 80))) } " "
                @match &called.kind {
                    CallKind::Other => { span class="preview" { (Shown(&line(&call.arguments.decode(), 90))) } },
                    kind => { (kind.target()) },
                }
                @if called.is_failed { " " span class="failed" { "failed" } }
                " " span class="tokens" { (counted(self.tokens(called.at), "token")) }
                @match self.counterpart(called.at) {
                    Some(result) => {
                        span class="tokens" {
                            " → " (counted(self.tokens(result), "token"))
                            @if let Some(seconds) = self.seconds(called.at, result) { " · " (duration(seconds)) }
                        }
                    },
                    None if call.hosted => { span class="tokens" { " → run by the provider" } },
                    None => { span class="missing" { " no result" } },
                }
            }
        }
    }

    /// What a call is told, in the form that people know of its kind; its other arguments by name. `byte` is their offset in the
    /// file.
    fn call_arguments(&self, called: &Called, raw: &str, byte: usize) -> Markup {
        let max_chars = self.limits.max_text;
        let answer = if matches!(called.kind, CallKind::Ask { .. }) && !called.is_failed {
            self.answer_to(called.at)
        } else {
            String::new()
        };
        html! {
            @match called.kind.draw(byte, max_chars, &answer) {
                Some(drawn) => { (other_arguments(raw, byte, max_chars, called.kind.shown())) (drawn) },
                // The sub-agent shows its task.
                None if called.has_agents => {
                    details class="aside" { summary { "Show the arguments" } (arguments(raw, byte, max_chars)) }
                },
                None => { (arguments(raw, byte, max_chars)) },
            }
        }
    }

    /// How long a call took, if its log tells and it was not short.
    fn seconds(&self, call: PartRef, result: PartRef) -> Option<f64> {
        let moments = &self.conversation.times.messages;
        let seconds = moments[result.message].as_ref()?.seconds - moments[call.message].as_ref()?.seconds;
        Some(seconds).filter(|seconds| *seconds >= 2.0)
    }

    /// The text of the result of a call.
    fn answer_to(&self, call: PartRef) -> String {
        let result = self.counterpart(call).and_then(|result| self.conversation.part(result).content.result());
        result.map(|result| result.content.iter().map(Text::decode).collect::<Vec<_>>().join("\n")).unwrap_or_default()
    }

    /// The results of a call: of a deferred call, those that came before the last one as well.
    fn results(&self, call: PartRef) -> impl Iterator<Item = PartRef> {
        let earlier = self.conversation.pairs.claimants(call).iter().copied();
        earlier.filter(move |&result| self.counterpart(result) == Some(call)).chain(self.counterpart(call))
    }

    /// A result inside its call. If its message has nothing else, that is shown here as well: its number, and what a policy does
    /// to it.
    fn answer(&self, called: &Called, at: PartRef) -> Markup {
        let part = self.conversation.part(at);
        let Content::ToolResult(result) = &part.content else { return html! {} };
        let is_folded = self.is_folded(at.message);
        let fate = self.conversation.fate(at.message).filter(|_| is_folded);
        let state = fate.map_or(State::Kept, |fate| fate.state);
        let first = self.conversation.messages[at.message].results().next();
        let is_first = is_folded && first.is_some_and(|(part, _)| part == at.part);
        // The line of the command shows the number of tokens of its output.
        let is_plain = is_folded && fate.is_none_or(|fate| fate.state == State::Kept && fate.reasons.is_empty());
        let is_closed = (called.kind.folds_result() || called.has_agents) && state == State::Kept && !called.is_failed;
        let is_elsewhere = !is_folded && at.message != called.at.message;
        let place = html! { a href={ "#" (self.conversation.anchor(at.message)) } { "message " (at.message) } };
        let label = self.label(called, at, (is_elsewhere && !is_closed).then_some(&place));
        let body = html! {
            // A summary is a button, and a link in it is none for who listens to the page.
            @if is_elsewhere && is_closed { p class="answer" { "In " (place) } }
            @if called.is_shell() { (self.printed(part, result)) } @else { (self.output(part, result)) }
            (self.unread_in(part))
            @if let Some(fate) = fate.and_then(|fate| fate.parts.get(at.part)) { (self.rewritten(fate)) }
        };
        html! {
            div class={ "result " (state.name()) } id=[is_first.then(|| self.conversation.anchor(at.message))]
                data-message=[is_first.then_some(at.message)] data-state=[is_first.then_some(state.name())] {
                @if is_closed {
                    details class="aside" { summary { span class="label" { (label) } } (body) }
                } @else {
                    @if !(is_plain && called.is_shell()) { div class="label" { (label) } }
                    (body)
                }
            }
        }
    }

    /// Which message a result is in, with a link to another one, when it came, and what a policy does to that message if it has
    /// nothing else.
    fn label(&self, called: &Called, at: PartRef, place: Option<&Markup>) -> Markup {
        let is_folded = self.is_folded(at.message);
        let is_elsewhere = at.message != called.at.message;
        let moment = self.conversation.times.messages[at.message].as_ref().filter(|_| is_elsewhere);
        html! {
            "Result "
            @if is_folded { span class="number" { (at.message) } } @else if let Some(place) = place { (place) }
            @if let Some(moment) = moment { " " (moment.draw(false)) }
            @if is_folded { " " (self.fate(at.message, self.conversation.fate(at.message))) }
        }
    }

    /// A result that is shown with its call, or in place if it has none.
    pub(super) fn result(&self, at: PartRef, part: &Part<'_>, result: &ToolResult<'_>) -> Markup {
        let name = line(&self.conversation.tool(at), 80);
        // Some logs lack calls that were made.
        let is_fault = !self.conversation.messages[at.message].call_rules.unasked;
        html! {
            @match self.counterpart(at) {
                Some(call) if call.message == at.message => {},
                Some(call) => {
                    p class="answer" {
                        "Result of " b { (Shown(&name)) } ", shown with its call in "
                        a href={ "#" (self.conversation.anchor(call.message)) } { "message " (call.message) }
                    }
                },
                None => {
                    details class="call" {
                        summary {
                            b { (Shown(&name)) } " " span class=[is_fault.then_some("missing")] { "result without a call" } " "
                            span class="tokens" { (counted(self.tokens(at), "token")) }
                        }
                        (self.output(part, result))
                    }
                },
            }
        }
    }

    fn output(&self, part: &Part<'_>, result: &ToolResult<'_>) -> Markup {
        html! {
            @for text in &result.content { (self.text(self.byte(part), text, true)) }
            (files(part, result))
        }
    }

    /// The output of a command.
    fn printed(&self, part: &Part<'_>, result: &ToolResult<'_>) -> Markup {
        html! {
            @for text in result.content.iter().filter(|text| !text.is_blank()) {
                (output(&text.decode(), self.limits.max_text, self.byte(part)))
            }
            (files(part, result))
        }
    }
}

/// The images and files of a result.
fn files(part: &Part<'_>, result: &ToolResult<'_>) -> Markup {
    html! {
        @if result.media > 0 { (media(part.place().map_or("", |place| place.element.raw()), result.media)) }
        @if result.content.iter().all(Text::is_blank) && result.media == 0 { p class="quiet" { "empty" } }
    }
}
