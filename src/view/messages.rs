//! The conversation: every message with its parts, results inside the calls that they answer, and the reasons of a cut.

use maud::{Markup, html};

use super::arguments::arguments;
use super::content::{Passage, passage};
use super::conversation::Conversation;
use super::effect::{Drafted, Fate, PartFate, State};
use super::shares::tool;
use super::visible::{Shown, counted, figure, line, size};
use curtail_core::json::Text;
use curtail_core::transcript::{Content, Message, Part, PartRef, ToolCall, ToolResult};

/// The limits that keep a page small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Characters of a text that are on the page; a note says where the rest is.
    pub max_text: usize,
    /// Tokens of a conversation from which on its later messages are built when they come into sight.
    pub long: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_text: 20_000, long: 1_000_000 }
    }
}

/// Messages of a long conversation that are on the page at once.
const FIRST_ROWS: usize = 200;
/// Messages that are built together.
const LATER_ROWS: usize = 100;
const LATER_END: &str = "</noscript></div>";

/// Distinct names, one per line.
fn listed<S: AsRef<str>>(names: impl Iterator<Item = S>) -> String {
    let mut distinct: Vec<String> = Vec::new();
    for name in names.flat_map(|names| names.as_ref().lines().map(str::to_owned).collect::<Vec<_>>()) {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct.join("\n")
}

/// Draws the messages of a conversation.
pub(super) struct Chat<'c, 'a> {
    pub(super) conversation: &'c Conversation<'a>,
    pub(super) limits: Limits,
}

impl Chat<'_, '_> {
    /// Appends all messages to `out`, turn by turn.
    pub(super) fn draw(&self, out: &mut String) {
        let mut later = (self.conversation.tokens() >= self.limits.long).then_some(0);
        let mut drafts = self.conversation.effect.as_ref().map_or(&[][..], |effect| &effect.drafts).iter().peekable();
        let mut turns = (1_usize..).zip(&self.conversation.turns).peekable();
        for at in 0..self.conversation.messages.len() {
            self.begin_later(at, out, &mut later);
            if let Some((number, _)) = turns.next_if(|(_, start)| **start == at) {
                let label = format!("Turn {number}");
                out.push_str(&html! { h2 class="turn" { (label) } }.0);
            }
            while let Some(draft) = drafts.next_if(|draft| draft.before <= at) {
                out.push_str(&self.draft(draft).0);
            }
            out.push_str(&self.message(at).0);
        }
        for draft in drafts {
            out.push_str(&self.draft(draft).0);
        }
        if later.is_some_and(|first| first > 0) {
            out.push_str(LATER_END);
        }
    }

    /// In a long conversation, begins rows at message `at` that the script builds when they come into sight: parsing all of
    /// them takes seconds. `later` is the first of the rows that were begun last; `None` in a short one. Without script they are there at once.
    fn begin_later(&self, at: usize, out: &mut String, later: &mut Option<usize>) {
        let conversation = self.conversation;
        let Some(last) = later.filter(|last| at >= FIRST_ROWS && at >= last + LATER_ROWS) else { return };
        if last > 0 {
            out.push_str(LATER_END);
        }
        *later = Some(at);
        let end = (at + LATER_ROWS).min(conversation.messages.len());
        let states = (at..end).filter_map(|at| Some(conversation.effect.as_ref()?.fates[at].state.name()));
        let roles = conversation.messages[at..end].iter().map(|message| message.role.name());
        let html = html! {
            div class="later" data-rows=(end - at) data-first=(conversation.anchor(at)) data-roles=(listed(roles))
                data-states=(listed(states)) data-tools=(Shown(&listed((at..end).filter_map(|at| self.tools(at)))))
                style={ "--rows:" (end - at) } {}
        };
        out.push_str(html.0.strip_suffix("</div>").unwrap_or(&html.0));
        out.push_str("<noscript>");
    }

    fn message(&self, at: usize) -> Markup {
        let conversation = self.conversation;
        let message = &conversation.messages[at];
        let fate = conversation.effect.as_ref().map(|effect| &effect.fates[at]);
        let state = fate.map_or(State::Kept, |fate| fate.state);
        let tools = self.tools(at);
        html! {
            @if message.barrier { p class="boundary" { "Boundary: the model no longer reads what is above." } }
            article id=(conversation.anchor(at))
                class={ (conversation.shade(at)) " " (state.name()) (if self.is_slim(at) { " slim" } else { "" }) }
                data-role=(message.role.name()) data-state=(state.name()) data-tools=[tools.as_deref().map(Shown)] {
                (self.heading(at, fate))
                @for nth in 0..message.parts.len() { (self.part(PartRef { message: at, part: nth }, fate)) }
                @if message.parts.is_empty() { p class="quiet" { "empty" } }
            }
        }
    }

    /// Whether there is nothing to show of a message itself: its results are shown with their calls.
    fn is_slim(&self, at: usize) -> bool {
        let message = &self.conversation.messages[at];
        let elsewhere = |(nth, part): (usize, &Part<'_>)| match &part.content {
            Content::ToolResult(_) => self.conversation.pairs.other_half(PartRef { message: at, part: nth }).is_some(),
            Content::Reasoning(text) => text.is_blank(),
            _ => false,
        };
        message.parts.iter().enumerate().all(elsewhere)
    }

    fn heading(&self, at: usize, fate: Option<&Fate>) -> Markup {
        let message = &self.conversation.messages[at];
        let tokens = self.conversation.costs[at].tokens;
        html! {
            header {
                h3 { span class="role" { (message.role.name()) } " "
                    a class="number" href={ "#" (self.conversation.anchor(at)) } { (at) } }
                @if message.thread > 0 { span class="thread" { "thread " (message.thread) } }
                span class="tokens" {
                    @match fate {
                        Some(fate) if fate.tokens != tokens && fate.state == State::Changed => {
                            s { (figure(tokens)) } " " (counted(fate.tokens, "token"))
                        },
                        _ => { (counted(tokens, "token")) },
                    }
                }
                @if let Some(fate) = fate {
                    @if fate.state != State::Kept { span class={ "state " (fate.state.name()) } { (fate.state.name()) } }
                    @if !fate.reasons.is_empty() {
                        ul class="reasons" { @for reason in &fate.reasons { li { (Shown(reason)) } } }
                    }
                }
            }
        }
    }

    /// The names of the tools that a message calls or that answer in it, separated by line breaks.
    fn tools(&self, at: usize) -> Option<String> {
        let message = &self.conversation.messages[at];
        let used = message.parts.iter().enumerate().filter(|(_, part)| part.content.is_tool());
        let mut names: Vec<String> =
            used.map(|(nth, _)| tool(self.conversation, PartRef { message: at, part: nth })).collect();
        names.sort_unstable();
        names.dedup();
        (!names.is_empty()).then(|| names.join("\n"))
    }

    fn part(&self, at: PartRef, fate: Option<&Fate>) -> Markup {
        let part = &self.conversation.messages[at.message].parts[at.part];
        let tokens = self.conversation.costs[at.message].parts[at.part];
        let fate = fate.and_then(|fate| fate.parts.get(at.part)).unwrap_or(&PartFate::Kept);
        let class = match fate {
            PartFate::Kept => "part",
            PartFate::Dropped => "part dropped",
            PartFate::Rewritten(_) => "part changed",
        };
        html! {
            div class=(class) {
                @match &part.content {
                    Content::Text(text) => { (self.text(part, text, false)) },
                    Content::Reasoning(text) => { (self.reasoning(part, text, tokens)) },
                    Content::ToolCall(call) => { (self.call(at, part, call, tokens)) },
                    Content::ToolResult(result) => { (self.result(at, part, result, tokens)) },
                    Content::Media(text) => { p class="media" { "Image or file, " (size(text.len_bound())) } },
                    Content::Unknown(_) | Content::Other => { p class="quiet" { "Other content, " (size(bytes(part))) } },
                }
                @if let PartFate::Rewritten(text) = fate {
                    p class="quiet" { "changed to" }
                    (passage(Passage { text, byte: 0, most: self.limits.max_text, mono: true }))
                }
            }
        }
    }

    fn text(&self, part: &Part<'_>, text: &Text<'_>, mono: bool) -> Markup {
        if text.is_blank() {
            return html! { p class="quiet" { "blank" } };
        }
        let byte = self.byte(part);
        passage(Passage { text: &text.decode(), byte, most: self.limits.max_text, mono })
    }

    /// Where a part is in the file.
    fn byte(&self, part: &Part<'_>) -> usize {
        self.conversation.place.offset + part.place().map_or(0, |place| place.element.span().start as usize)
    }

    fn reasoning(&self, part: &Part<'_>, text: &Text<'_>, tokens: usize) -> Markup {
        html! {
            @if text.is_blank() { p class="quiet" { "Thinking, hidden by the provider" } }
            @else {
                details class="thinking" {
                    summary { "Thinking " span class="tokens" { (counted(tokens, "token")) } }
                    (self.text(part, text, false))
                }
            }
        }
    }

    fn call(&self, at: PartRef, part: &Part<'_>, call: &ToolCall<'_>, tokens: usize) -> Markup {
        let raw = call.arguments.decode();
        let other = self.conversation.pairs.other_half(at);
        let answer = other.map(|other| &self.conversation.messages[other.message].parts[other.part]);
        html! {
            details class="call" {
                summary {
                    b { (Shown(&line(&call.name.decode(), 80))) } " " span class="preview" { (Shown(&line(&raw, 90))) } " "
                    span class="tokens" { (counted(tokens, "token")) }
                    @match other {
                        Some(other) => { span class="tokens" { " → " (counted(self.tokens(other), "token")) } },
                        None if call.hosted => { span class="tokens" { " → run by the provider" } },
                        None => { span class="missing" { " no result" } },
                    }
                }
                (arguments(&raw, self.byte(part), self.limits.max_text))
                @if let (Some(other), Some(Part { content: Content::ToolResult(result), .. })) = (other, answer) {
                    div class="result" {
                        p class="label" { "Result "
                            @if other.message != at.message {
                                a href={ "#" (self.conversation.anchor(other.message)) } { "message " (other.message) }
                            }
                        }
                        @if let Some(part) = answer { (self.output(part, result)) }
                    }
                }
            }
        }
    }

    fn tokens(&self, at: PartRef) -> usize {
        self.conversation.costs[at.message].parts[at.part]
    }

    /// A result that is shown with its call, or in place if it has none.
    fn result(&self, at: PartRef, part: &Part<'_>, result: &ToolResult<'_>, tokens: usize) -> Markup {
        let name = tool(self.conversation, at);
        html! {
            @match self.conversation.pairs.other_half(at) {
                Some(call) if call.message == at.message => {},
                Some(call) => {
                    p class="answer" {
                        "Result of " b { (Shown(&line(&name, 80))) } ", shown with its call in "
                        a href={ "#" (self.conversation.anchor(call.message)) } { "message " (call.message) }
                    }
                },
                None => {
                    details class="call" {
                        summary {
                            b { (Shown(&line(&name, 80))) } " " span class="missing" { "result without a call" } " "
                            span class="tokens" { (counted(tokens, "token")) }
                        }
                        (self.output(part, result))
                    }
                },
            }
        }
    }

    fn output(&self, part: &Part<'_>, result: &ToolResult<'_>) -> Markup {
        html! {
            @for text in &result.content { (self.text(part, text, true)) }
            @if result.media > 0 { p class="media" { (counted(result.media, "image or file")) ", " (size(bytes(part))) } }
            @if result.content.iter().all(Text::is_blank) && result.media == 0 { p class="quiet" { "empty" } }
        }
    }

    fn draft(&self, draft: &Drafted<'_>) -> Markup {
        let message = &draft.message;
        let role = message.role.name();
        html! {
            article class={ (role) " added" } data-role=(role) data-state="added" {
                header {
                    h3 { span class="role" { (role) } }
                    span class="tokens" { (counted(draft.tokens, "token")) }
                    span class="state added" { "added" }
                }
                @for text in texts(message) {
                    (passage(Passage { text: &text, byte: 0, most: self.limits.max_text, mono: false }))
                }
            }
        }
    }
}

/// The texts of a message that a policy wrote.
pub(super) fn texts(message: &Message<'_>) -> Vec<String> {
    let texts = message.parts.iter().flat_map(|part| match &part.content {
        Content::Text(text) | Content::Reasoning(text) => vec![text.decode().into_owned()],
        Content::ToolResult(result) => result.content.iter().map(|text| text.decode().into_owned()).collect(),
        _ => Vec::new(),
    });
    texts.collect()
}

fn bytes(part: &Part<'_>) -> usize {
    part.place().map_or(0, |place| place.element.span().len())
}
