//! One message: its heading, what a policy does to it, and its parts.

use maud::{Markup, html};

use super::Chat;
use crate::capped::capped;
use crate::content::{Passage, code, passage};
use crate::effect::{Fate, PartFate, State};
use crate::images::images;
use crate::markdown::{markdown, typed};
use crate::outside::{Definitions, OutsideText};
use crate::unread::{UnreadText, unread};
use crate::visible::{Body, Shown, gap, line, size};
use curtail_core::json::Text;
use curtail_core::numbers::{counted, figure};
use curtail_core::transcript::{Content, Estimated, Message, Part, PartPlace, PartRef};
use curtail_facts::command;

/// A text that a program wrote for the model is folded if it is longer than this many bytes.
const MAX_UNFOLDED: usize = 400;
/// How many texts that define tools are on a page.
const MAX_DEFINITIONS: usize = 3;

impl Chat<'_, '_> {
    /// Message `at`; `before` wrote what is above it.
    pub(super) fn message(&self, at: usize, before: Option<&'static str>) -> Markup {
        let conversation = self.conversation;
        let message = &conversation.messages[at];
        let fate = conversation.fate(at);
        let state = self.conversation.state(at).name();
        let by = conversation.writer(at);
        let tally = self.tally(&[at]);
        let tools = self.tools_with_agents(at);
        let joined = if before == Some(by) && !message.begins_context() { " joined" } else { "" };
        let slim = if self.is_slim(at) { " slim" } else { "" };
        html! {
            @if let Some(gap) = self.gap(at) {
                p class="gap" { (gap) " later" }
            }
            @if conversation.is_boundary(at) { p class="boundary" { "Boundary: the model no longer reads what is above." } }
            article id=(conversation.anchor(at)) class={ (by) " " (state) (joined) (slim) }
                data-message=(at) data-by=(self.writers_with_agents(at)) data-failures=[Some(tally.failures).filter(|count| *count > 0)]
                data-edits=[Some(tally.edits).filter(|count| *count > 0)] data-state=(state) data-tools=[tools.as_deref().map(Shown)]
                data-prompt[conversation.story.is_prompt(at)] {
                (self.heading(at, fate))
                @for nth in 0..message.parts.len() {
                    @if !is_marker(message, nth, fate) { (self.part(PartRef { message: at, part: nth }, fate)) }
                }
                (self.unread(&message.estimated))
                @if message.parts.is_empty() { p class="quiet" { "empty" } }
            }
        }
    }

    /// The time since the message before it in the same conversation.
    fn gap(&self, at: usize) -> Option<String> {
        let moments = &self.conversation.times.messages;
        gap(moments[self.previous[at]?].as_ref(), moments[at].as_ref())
    }

    /// Whether a message shows nothing but its heading.
    fn is_slim(&self, at: usize) -> bool {
        let mut parts = self.conversation.messages[at].parts.iter().enumerate();
        parts.all(|(nth, part)| match &part.content {
            Content::ToolResult(_) => self.counterpart(PartRef { message: at, part: nth }).is_some(),
            Content::Reasoning(text) => text.is_blank(),
            _ => false,
        })
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
                @if let Some(moment) = &self.conversation.times.messages[at] { (moment.draw(false)) }
                (self.fate(at, fate))
            }
        }
    }

    /// The tokens of a message, and what a policy does to it.
    pub(super) fn fate(&self, at: usize, fate: Option<&Fate>) -> Markup {
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

    fn part(&self, at: PartRef, fate: Option<&Fate>) -> Markup {
        let part = self.conversation.part(at);
        let fate = fate.and_then(|fate| fate.parts.get(at.part)).unwrap_or(&PartFate::Kept);
        let class = match fate {
            PartFate::Kept => "part",
            PartFate::Dropped => "part dropped",
            PartFate::Rewritten { .. } => "part changed",
        };
        html! {
            div class={ (class) (if part.content.call().is_some() { " calls" } else { "" }) } {
                @if let Some(speaker) = self.conversation.speaker(at) { p class="quiet" { (speaker) ":" } }
                @match &part.content {
                    Content::Text(text) => { (self.text_part(at, part, text)) },
                    Content::Reasoning(text) => { (self.reasoning(at, part, text)) },
                    Content::ToolCall(call) => { (self.call(at, part, call)) },
                    Content::ToolResult(result) => { (self.result(at, part, result)) },
                    Content::Media(text) => { (media(&text.decode(), 1)) },
                    Content::Unknown(text) => {
                        details class="aside" { summary { "Show other content, " (size(bytes(part))) } (self.text(self.byte(part), text, true)) }
                    },
                    Content::Other => { p class="quiet" { "Other content, " (size(bytes(part))) } },
                }
                (self.unread_in(part))
                (self.rewritten(fate))
            }
        }
    }

    pub(super) fn rewritten(&self, fate: &PartFate) -> Markup {
        html! {
            @if let PartFate::Rewritten { text, .. } = fate {
                p class="quiet" { "changed to" }
                (passage(Passage { text, byte: 0, max_chars: self.limits.max_text, mono: true }))
            }
        }
    }

    /// The folded texts in the element of a part that belong to no part.
    pub(super) fn unread_in(&self, part: &Part<'_>) -> Markup {
        self.unread(part.place().map_or(&[], PartPlace::estimated))
    }

    fn unread(&self, texts: &[Estimated<'_>]) -> Markup {
        html! {
            @for UnreadText { name, text, byte } in unread(texts) {
                details class="aside" {
                    summary { "Show " (code(&name)) ", " (size(text.len())) }
                    (passage(Passage { text: &text, byte: self.conversation.place.offset + byte, max_chars: self.limits.max_text, mono: true }))
                }
            }
        }
    }

    /// A text of a message. A long text that a program wrote for the model is folded.
    fn text_part(&self, at: PartRef, part: &Part<'_>, text: &Text<'_>) -> Markup {
        let words = text.decode();
        let writer = self.conversation.speaker(at).unwrap_or_else(|| self.conversation.writer(at.message));
        if writer == "person" && !part.instructs() {
            return self.prose(self.byte(part), text, typed);
        }
        if writer != "program" || words.len() <= MAX_UNFOLDED {
            return self.prose(self.byte(part), text, markdown);
        }
        html! {
            details class="context" {
                summary { span class="preview" { (Shown(&line(&words, 110))) } " " span class="tokens" { (counted(self.tokens(at), "token")) } }
                (self.prose(self.byte(part), text, markdown))
            }
        }
    }

    fn reasoning(&self, at: PartRef, part: &Part<'_>, text: &Text<'_>) -> Markup {
        html! {
            @if text.is_blank() { p class="quiet" { "Thinking, hidden by the provider" } }
            @else {
                details class="thinking" {
                    summary { "Thinking " span class="tokens" { (counted(self.tokens(at), "token")) } }
                    (self.prose(self.byte(part), text, markdown))
                }
            }
        }
    }

    /// A text of a person or a model, which begins at `byte` of the file. `draw` draws the markup that it contains, if any.
    fn prose(&self, byte: usize, text: &Text<'_>, draw: fn(&str) -> Option<Markup>) -> Markup {
        let words = text.decode();
        if capped(&words, self.limits.max_text).1 > 0 {
            return self.text(byte, text, false);
        }
        let command = command(&words);
        let shown = command.as_deref().unwrap_or(&words);
        let html = match (draw(shown), &command) {
            (Some(html), _) => html,
            (None, Some(command)) => html! { div class="md text" { (Body(command)) } },
            (None, None) => return self.text(byte, text, false),
        };
        html! {
            (html)
            details class="raw" {
                summary { "Source" }
                pre { (Body(&words)) }
            }
        }
    }

    /// A text as it is written; `mono` if it is output of a program or data, not prose.
    pub(super) fn text(&self, byte: usize, text: &Text<'_>, mono: bool) -> Markup {
        if text.is_blank() {
            return html! { p class="quiet" { "blank" } };
        }
        let text = text.decode();
        // Blank lines around prose have no meaning.
        let text = if mono { &*text } else { text.trim_matches(['\r', '\n']) };
        passage(Passage { text, byte, max_chars: self.limits.max_text, mono })
    }

    /// What is outside the messages and before them. Who wrote it is not known.
    pub(super) fn preamble(&self) -> Markup {
        let preamble = &self.conversation.outside.preamble;
        html! {
            article id={ (self.conversation.place.anchor) "outside-before" } class="outside kept" data-by="outside" data-state="kept" {
                header { h3 { span class="role" { "outside the messages" } } }
                @for outside in &preamble.texts {
                    @let words = outside.text.decode();
                    div class="part" {
                        @if words.len() > MAX_UNFOLDED {
                            details class="context" {
                                summary { span class="preview" { (Shown(&line(&words, 110))) } " " span class="tokens" { (size(words.len())) } }
                                (self.outside(outside))
                            }
                        } @else { (self.outside(outside)) }
                    }
                }
                @if !preamble.definitions.texts.is_empty() { div class="part" { (self.definitions(&preamble.definitions)) } }
            }
        }
    }

    /// The tools: the first ones, and how many more there are. A page of many records repeats them in each.
    fn definitions(&self, definitions: &Definitions<'_>) -> Markup {
        html! {
            details class="context" {
                summary {
                    span class="preview" { (definitions.counted()) } " "
                    span class="tokens" { (counted(definitions.characters(), "character")) }
                }
                @for outside in definitions.texts.iter().take(MAX_DEFINITIONS) { (self.outside(outside)) }
                @if let Some((more, next)) = definitions.counted_after(MAX_DEFINITIONS).zip(definitions.texts.get(MAX_DEFINITIONS)) {
                    p class="note" {
                        "Not on this page: " (more) ", from byte " (figure(self.conversation.place.offset + next.byte)) " of the file on."
                    }
                }
            }
        }
    }

    /// The replies of a model outside the messages.
    pub(super) fn replies(&self) -> Markup {
        html! {
            article id={ (self.conversation.place.anchor) "outside-after" } class="model kept" data-by="model" data-state="kept" {
                header { h3 { span class="role" { "model, outside the messages" } } }
                @for outside in &self.conversation.outside.replies { div class="part" { (self.outside(outside)) } }
            }
        }
    }

    /// A text outside the messages.
    fn outside(&self, OutsideText { text, byte }: &OutsideText<'_>) -> Markup {
        let byte = self.conversation.place.offset + byte;
        if matches!(text, Text::Json(_)) { self.text(byte, text, true) } else { self.prose(byte, text, markdown) }
    }

    /// The byte offset of a part in the file.
    pub(super) fn byte(&self, part: &Part<'_>) -> usize {
        self.conversation.place.offset + part.place().map_or(0, |place| place.element.span().start as usize)
    }
}

/// `count` images or files, of which `raw` is the JSON.
pub(super) fn media(raw: &str, count: usize) -> Markup {
    html! { (images(raw)) p class="media" { (counted(count, "image or file")) ", " (size(raw.len())) } }
}

/// Whether a part has nothing to show, such as the beginning of a step or a blank text, although other parts of its message have.
fn is_marker(message: &Message<'_>, nth: usize, fate: Option<&Fate>) -> bool {
    let is_kept = fate.and_then(|fate| fate.parts.get(nth)).is_none_or(|fate| matches!(fate, PartFate::Kept));
    is_kept && is_empty(&message.parts[nth]) && !message.parts.iter().all(is_empty)
}

fn is_empty(part: &Part<'_>) -> bool {
    match &part.content {
        Content::Text(text) => text.is_blank(),
        Content::Other => true,
        _ => false,
    }
}

fn bytes(part: &Part<'_>) -> usize {
    part.place().map_or(0, |place| place.element.span().len())
}
