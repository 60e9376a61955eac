//! Draws the conversation: every message with its parts, results inside the calls that they answer, and the reasons of a cut.

use std::collections::HashSet;

use maud::{Markup, html};

use super::content::{Passage, capped, images, passage};
use super::conversation::{Conversation, writer};
use super::effect::{Drafted, Fate, PartFate, State, texts};
use super::markdown::markdown;
use super::output::output;
use super::tools::{CallKind, arguments};
use super::visible::{Body, Shown, gap, line, size};
use curtail_core::json::Text;
use curtail_core::numbers::{counted, figure};
use curtail_core::transcript::{Content, Part, PartRef, ToolCall, ToolResult};
use curtail_facts::failed;

/// The limits that keep a page small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum characters of a text on the page; a note says where the rest is.
    pub max_text: usize,
    /// Number of tokens from which on the later messages of a conversation are built only when they come into view.
    pub long: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_text: 20_000, long: 1_000_000 }
    }
}

/// Messages of a long conversation that are built immediately.
const FIRST_ROWS: usize = 200;
/// Messages that are built together when they come into view.
const LATER_ROWS: usize = 100;
pub(super) const LATER_END: &str = "</noscript></div>";
/// A text that a program wrote for the model is folded if it is longer than this many bytes.
const MAX_UNFOLDED: usize = 400;

/// The distinct names in `names`, one per line.
fn listed<S: AsRef<str>>(names: impl Iterator<Item = S>) -> String {
    let mut seen = HashSet::new();
    let mut distinct: Vec<String> = Vec::new();
    for names in names {
        let new = names.as_ref().lines().filter(|name| seen.insert((*name).to_owned()));
        distinct.extend(new.map(str::to_owned));
    }
    distinct.join("\n")
}

/// Draws the messages of a conversation.
pub(super) struct Chat<'c, 'a> {
    pub(super) conversation: &'c Conversation<'a>,
    pub(super) limits: Limits,
}

impl Chat<'_, '_> {
    /// Appends all messages to `out`, turn by turn. `shared` tells whether the page has other conversations.
    pub(super) fn draw(&self, out: &mut String, shared: bool) {
        let is_later = shared || self.conversation.tokens() >= self.limits.long;
        let first = if shared { 0 } else { FIRST_ROWS };
        let mut later_start: Option<usize> = None;
        let mut turns = (1_usize..).zip(&self.conversation.turns).peekable();
        let mut before = None;
        for at in 0..self.conversation.messages.len() {
            if is_later && at >= first && later_start.is_none_or(|last| at >= last + LATER_ROWS) {
                if later_start.is_some() {
                    out.push_str(LATER_END);
                }
                self.open_later(at, out);
                later_start = Some(at);
            }
            if let Some((number, _)) = turns.next_if(|(_, start)| **start == at) {
                out.push_str(&html! { h2 class="turn" { "Turn " (number) } }.0);
                before = None;
            }
            for draft in self.conversation.drafts(at) {
                out.push_str(&self.draft(draft).0);
                before = None;
            }
            if !self.is_folded(at) {
                out.push_str(&self.message(at, before).0);
                before = Some(self.conversation.writer(at));
            }
        }
        for draft in self.conversation.drafts(self.conversation.messages.len()) {
            out.push_str(&self.draft(draft).0);
        }
        if later_start.is_some() {
            out.push_str(LATER_END);
        }
    }

    /// Opens an element with the messages from `at` on, which the script builds when they come into view: parsing all of a long
    /// conversation takes seconds. Without JavaScript, the page shows them immediately.
    fn open_later(&self, at: usize, out: &mut String) {
        let conversation = self.conversation;
        let end = (at + LATER_ROWS).min(conversation.messages.len());
        let states = (at..end).filter_map(|at| Some(conversation.fate(at)?.state.name()));
        let writers = (at..end).map(|at| conversation.writer(at));
        let rows = (at..end).filter(|&at| !self.is_folded(at)).count();
        let prompts = (at..end).filter(|&at| conversation.story.is_prompt(at)).count();
        let html = html! {
            div class="later" data-rows=(rows) data-prompts=(prompts) data-by=(listed(writers)) data-states=(listed(states))
                data-tools=(Shown(&listed((at..end).filter_map(|at| self.tools(at))))) style={ "--rows:" (rows) } {}
        };
        out.push_str(html.0.strip_suffix("</div>").unwrap_or(&html.0));
        out.push_str("<noscript>");
    }

    fn message(&self, at: usize, before: Option<&'static str>) -> Markup {
        let conversation = self.conversation;
        let message = &conversation.messages[at];
        let fate = conversation.fate(at);
        let state = fate.map_or(State::Kept, |fate| fate.state);
        let tools = self.tools(at);
        let by = conversation.writer(at);
        let answered = message.calls().filter_map(|(part, _)| self.counterpart(PartRef { message: at, part }));
        let is_asked = conversation.story.is_prompt(at);
        let joined = if before == Some(by) && !message.closes_calls() { " joined" } else { "" };
        let slim = if self.is_slim(at) { " slim" } else { "" };
        html! {
            @if let Some(gap) = at.checked_sub(1).and_then(|last| gap(conversation.moments[last].as_ref(), conversation.moments[at].as_ref())) {
                p class="gap" { (gap) " later" }
            }
            @if message.closes_calls() && at > 0 { p class="boundary" { "Boundary: the model no longer reads what is above." } }
            article id=(conversation.anchor(at)) class={ (by) " " (state.name()) (joined) (slim) }
                data-message=(at) data-by=(listed([by].into_iter().chain(answered.map(|_| "tool"))))
                data-state=(state.name()) data-tools=[tools.as_deref().map(Shown)] data-prompt[is_asked] {
                (self.heading(at, fate))
                @for nth in 0..message.parts.len() { (self.part(PartRef { message: at, part: nth }, fate)) }
                @if message.parts.is_empty() { p class="quiet" { "empty" } }
            }
        }
    }

    /// The counterpart of a call or result.
    fn counterpart(&self, at: PartRef) -> Option<PartRef> {
        self.conversation.pairs.counterpart(at)
    }

    /// The results of a call: of a deferred call, those that came before the last one as well.
    fn results(&self, call: PartRef) -> impl Iterator<Item = PartRef> {
        let earlier = self.conversation.pairs.claimants(call).iter().copied();
        earlier.filter(move |&result| self.counterpart(result) == Some(call)).chain(self.counterpart(call))
    }

    /// Whether a message contains only results of calls in other messages: they are shown with these calls.
    fn is_folded(&self, at: usize) -> bool {
        let message = &self.conversation.messages[at];
        let elsewhere = |(nth, part): (usize, &Part<'_>)| {
            let call = self.counterpart(PartRef { message: at, part: nth });
            part.content.result().is_some() && call.is_some_and(|call| call.message != at)
        };
        !message.closes_calls() && !message.parts.is_empty() && message.parts.iter().enumerate().all(elsewhere)
    }

    /// Whether a message shows nothing but its heading.
    fn is_slim(&self, at: usize) -> bool {
        let message = &self.conversation.messages[at];
        let elsewhere = |(nth, part): (usize, &Part<'_>)| match &part.content {
            Content::ToolResult(_) => self.counterpart(PartRef { message: at, part: nth }).is_some(),
            Content::Reasoning(text) => text.is_blank(),
            _ => false,
        };
        message.parts.iter().enumerate().all(elsewhere)
    }

    fn heading(&self, at: usize, fate: Option<&Fate>) -> Markup {
        let message = &self.conversation.messages[at];
        let writer = self.conversation.writer(at);
        html! {
            header {
                h3 {
                    span class="role" { (writer) @if message.role.instructs() { ", " (message.role.name()) } } " "
                    a class="number" href={ "#" (self.conversation.anchor(at)) } { (at) }
                }
                @if message.thread > 0 { span class="thread" { "thread " (message.thread) } }
                @if let Some(moment) = &self.conversation.moments[at] { (moment.draw(false)) }
                (self.fate(at, fate))
            }
        }
    }

    /// The tokens of a message, and what a policy does to it.
    fn fate(&self, at: usize, fate: Option<&Fate>) -> Markup {
        let tokens = self.conversation.costs[at].tokens;
        html! {
            @if tokens > 0 || fate.is_some() { span class="tokens" title=[self.usage(at)] {
                @match fate {
                    Some(fate) if fate.tokens != tokens && fate.state == State::Changed => {
                        s { (figure(tokens)) } " " (counted(fate.tokens, "token"))
                    },
                    _ => { (counted(tokens, "token")) },
                }
            } }
            @if let Some(fate) = fate {
                @if fate.state != State::Kept { span class={ "state " (fate.state.name()) } { (fate.state.name()) } }
                @if !fate.reasons.is_empty() {
                    ul class="reasons" { @for reason in &fate.reasons { li { (Shown(reason)) } } }
                }
            }
        }
    }

    /// The provider's counts for the request that message `at` begins to answer.
    fn usage(&self, at: usize) -> Option<String> {
        let provided = &self.conversation.provided;
        let usage = provided[provided.binary_search_by_key(&at, |request| request.message).ok()?].usage;
        let [input, read, write, output] = [usage.input, usage.cache_read, usage.cache_write, usage.output]
            .map(|tokens| figure(usize::try_from(tokens).unwrap_or(usize::MAX)));
        Some(format!(
            "The provider counted: input {input}, of which {read} from its cache and {write} written to it; output {output}"
        ))
    }

    /// The names of the tools that a message calls or that answer in it, separated by line breaks.
    fn tools(&self, at: usize) -> Option<String> {
        let message = &self.conversation.messages[at];
        let used = message.parts.iter().enumerate().filter(|(_, part)| part.content.is_tool());
        let mut names: Vec<String> =
            used.map(|(nth, _)| self.conversation.tool(PartRef { message: at, part: nth })).collect();
        names.sort_unstable();
        names.dedup();
        (!names.is_empty()).then(|| names.join("\n"))
    }

    fn part(&self, at: PartRef, fate: Option<&Fate>) -> Markup {
        let part = &self.conversation.messages[at.message].parts[at.part];
        let tokens = self.tokens(at);
        let fate = fate.and_then(|fate| fate.parts.get(at.part)).unwrap_or(&PartFate::Kept);
        let class = match fate {
            PartFate::Kept => "part",
            PartFate::Dropped => "part dropped",
            PartFate::Rewritten(_) => "part changed",
        };
        html! {
            div class={ (class) (if part.content.call().is_some() { " calls" } else { "" }) } {
                @match &part.content {
                    Content::Text(text) => { (self.text_part(at, part, text)) },
                    Content::Reasoning(text) => { (self.reasoning(part, text, tokens)) },
                    Content::ToolCall(call) => { (self.call(at, part, call, tokens)) },
                    Content::ToolResult(result) => { (self.result(at, part, result, tokens)) },
                    Content::Media(text) => { (media(&text.decode(), 1)) },
                    Content::Unknown(_) | Content::Other => { p class="quiet" { "Other content, " (size(bytes(part))) } },
                }
                (self.rewritten(fate))
            }
        }
    }

    fn rewritten(&self, fate: &PartFate) -> Markup {
        html! {
            @if let PartFate::Rewritten(text) = fate {
                p class="quiet" { "changed to" }
                (passage(Passage { text, byte: 0, max_chars: self.limits.max_text, mono: true }))
            }
        }
    }

    /// A text of a message. A long text that a program wrote for the model is folded.
    fn text_part(&self, at: PartRef, part: &Part<'_>, text: &Text<'_>) -> Markup {
        let words = text.decode();
        if self.conversation.writer(at.message) != "program" || words.len() <= MAX_UNFOLDED {
            return self.prose(part, text);
        }
        html! {
            details class="context" {
                summary { span class="preview" { (Shown(&line(&words, 110))) } " " span class="tokens" { (counted(self.tokens(at), "token")) } }
                (self.prose(part, text))
            }
        }
    }

    /// A text of a person or a model, which may be Markdown.
    fn prose(&self, part: &Part<'_>, text: &Text<'_>) -> Markup {
        let words = text.decode();
        if capped(&words, self.limits.max_text).1 > 0 {
            return self.text(part, text, false);
        }
        match markdown(&words) {
            Some(html) => html! {
                (html)
                details class="raw" {
                    summary { "Markdown source" }
                    pre { (Body(&words)) }
                }
            },
            None => self.text(part, text, false),
        }
    }

    fn text(&self, part: &Part<'_>, text: &Text<'_>, mono: bool) -> Markup {
        if text.is_blank() {
            return html! { p class="quiet" { "blank" } };
        }
        let byte = self.byte(part);
        let text = text.decode();
        // Blank lines around prose have no meaning.
        let text = if mono { &*text } else { text.trim_matches(['\r', '\n']) };
        passage(Passage { text, byte, max_chars: self.limits.max_text, mono })
    }

    /// The byte offset of a part in the file.
    fn byte(&self, part: &Part<'_>) -> usize {
        self.conversation.place.offset + part.place().map_or(0, |place| place.element.span().start as usize)
    }

    fn reasoning(&self, part: &Part<'_>, text: &Text<'_>, tokens: usize) -> Markup {
        html! {
            @if text.is_blank() { p class="quiet" { "Thinking, hidden by the provider" } }
            @else {
                details class="thinking" {
                    summary { "Thinking " span class="tokens" { (counted(tokens, "token")) } }
                    (self.prose(part, text))
                }
            }
        }
    }

    fn call(&self, at: PartRef, part: &Part<'_>, call: &ToolCall<'_>, tokens: usize) -> Markup {
        let raw = call.arguments.decode();
        let name = call.name.decode();
        let max_chars = self.limits.max_text;
        let kind = CallKind::from_call(&name, &raw);
        let is_failed = self.counterpart(at).is_some_and(|result| failed(self.conversation.part(result)));
        let byte = self.byte(part);
        html! {
            details class={ "call " (kind.class()) (if is_failed { " failed" } else { "" }) } open[kind.is_open() || is_failed] {
                summary {
                    b { (Shown(&line(&name, 80))) } " "
                    @match &kind {
                        CallKind::Other => { span class="preview" { (Shown(&line(&raw, 90))) } },
                        _ => { (kind.target()) },
                    }
                    @if is_failed { " " span class="failed" { "failed" } }
                    " " span class="tokens" { (counted(tokens, "token")) }
                    @match self.counterpart(at) {
                        Some(counterpart) => { span class="tokens" { " → " (counted(self.tokens(counterpart), "token")) } },
                        None if call.hosted => { span class="tokens" { " → run by the provider" } },
                        None => { span class="missing" { " no result" } },
                    }
                }
                @match kind.draw(byte, max_chars) {
                    Some(drawn) => { (arguments(&raw, byte, max_chars, kind.shown())) (drawn) },
                    None => { (arguments(&raw, byte, max_chars, &[])) },
                }
                @for result in self.results(at) { (self.answer(at, result, &kind, is_failed)) }
            }
        }
    }

    /// The result of the call `at`.
    fn answer(&self, at: PartRef, counterpart: PartRef, kind: &CallKind, is_failed: bool) -> Markup {
        let part = &self.conversation.messages[counterpart.message].parts[counterpart.part];
        let Content::ToolResult(result) = &part.content else { return html! {} };
        let is_folded = self.is_folded(counterpart.message);
        let fate = self.conversation.fate(counterpart.message).filter(|_| is_folded);
        let state = fate.map_or(State::Kept, |fate| fate.state);
        let is_first = self.conversation.messages[counterpart.message].results().next().map(|(part, _)| part)
            == Some(counterpart.part);
        let place = (is_folded && is_first).then(|| self.conversation.anchor(counterpart.message));
        let moment =
            self.conversation.moments[counterpart.message].as_ref().filter(|_| counterpart.message != at.message);
        // The line of the command shows the number of tokens of its output.
        let is_plain = is_folded && fate.is_none_or(|fate| fate.state == State::Kept && fate.reasons.is_empty());
        let drawn =
            if matches!(kind, CallKind::Shell { .. }) { self.printed(part, result) } else { self.output(part, result) };
        let body = html! {
            (drawn)
            @if let Some(fate) = fate.and_then(|fate| fate.parts.get(counterpart.part)) { (self.rewritten(fate)) }
        };
        html! {
            div class={ "result " (state.name()) } id=[place.as_deref()]
                data-message=[place.is_some().then_some(counterpart.message)] data-state=[place.is_some().then_some(state.name())] {
                @if !(is_plain && matches!(kind, CallKind::Shell { .. })) { p class="label" {
                    "Result "
                    @if is_folded { span class="number" { (counterpart.message) } }
                    @else if counterpart.message != at.message {
                        a href={ "#" (self.conversation.anchor(counterpart.message)) } { "message " (counterpart.message) }
                    }
                    @if let Some(moment) = moment { " " (moment.draw(false)) }
                    @if is_folded { " " (self.fate(counterpart.message, fate)) }
                } }
                @if kind.folds_result() && state == State::Kept && !is_failed {
                    details class="aside" { summary { "Show the result" } (body) }
                } @else { (body) }
            }
        }
    }

    fn tokens(&self, at: PartRef) -> usize {
        self.conversation.costs[at.message].parts[at.part]
    }

    /// A result that is shown with its call, or in place if it has none.
    fn result(&self, at: PartRef, part: &Part<'_>, result: &ToolResult<'_>, tokens: usize) -> Markup {
        let name = self.conversation.tool(at);
        html! {
            @match self.counterpart(at) {
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

    fn draft(&self, draft: &Drafted<'_>) -> Markup {
        let message = &draft.message;
        let by = writer(message);
        html! {
            article class={ (by) " added" } data-by=(by) data-state="added" {
                header {
                    h3 { span class="role" { (by) } }
                    span class="tokens" { (counted(draft.tokens, "token")) }
                    span class="state added" { "added" }
                }
                @for text in message.parts.iter().flat_map(|part| texts(&part.content)) {
                    (passage(Passage { text: &text, byte: 0, max_chars: self.limits.max_text, mono: false }))
                }
            }
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

/// `count` images or files, of which `raw` is the JSON.
fn media(raw: &str, count: usize) -> Markup {
    html! { (images(raw)) p class="media" { (counted(count, "image or file")) ", " (size(raw.len())) } }
}

fn bytes(part: &Part<'_>) -> usize {
    part.place().map_or(0, |place| place.element.span().len())
}
