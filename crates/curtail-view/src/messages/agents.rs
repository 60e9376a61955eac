//! Conversations of sub-agents, folded below what each was asked, and how it ended.

use maud::{Markup, PreEscaped, html};

use super::Chat;
use crate::charts::small_strip;
use crate::conversation::{Attached, Conversation};
use crate::markdown::plain;
use crate::spending::dollars;
use crate::tools::member_text;
use crate::visible::{Shown, duration, line};
use curtail_core::json::Document;
use curtail_core::numbers::{counted, figure};
use curtail_core::transcript::{PartRef, Role};

impl Chat<'_, '_> {
    /// The sub-agents that a call started.
    pub(super) fn agents(&self, call: PartRef, arguments: &str) -> Markup {
        let title = description(arguments);
        html! {
            @for side in self.started.get(&call).into_iter().flatten() {
                (self.nested(title.as_deref().unwrap_or_default(), &side.messages))
            }
            @for attached in self.attached.get(&call).into_iter().flatten() { (self.attached(attached, title.as_deref())) }
        }
    }

    /// A sub-agent in a file of its own.
    pub(super) fn attached(&self, attached: &Attached<'_>, title: Option<&str>) -> Markup {
        let title = attached.description.as_deref().or(title).unwrap_or_default();
        let messages: Vec<usize> = (0..attached.conversation.messages.len()).collect();
        Chat::new(&attached.conversation, self.limits).nested(title, &messages)
    }

    /// A conversation of a sub-agent, or those of its messages, folded below what it was and how it ended.
    pub(super) fn nested(&self, title: &str, messages: &[usize]) -> Markup {
        let conversation = self.conversation;
        let Some(&first) = messages.first() else { return html! {} };
        let title = if title.is_empty() { conversation.beginning(first) } else { line(title, 100) };
        let rows: Vec<usize> = messages.iter().copied().filter(|at| !self.is_folded(*at)).collect();
        let mut drawn = String::new();
        self.draw_rows(&rows, None, &mut drawn);
        html! {
            details class="agent" {
                summary {
                    b { "Sub-agent" } " “" (Shown(&title)) "”"
                    (self.did(messages))
                    (small_strip(conversation, messages))
                    @if let Some(words) = self.last_words(messages) { span class="ended" { "→ " (Shown(&words)) } }
                }
                (PreEscaped(drawn))
            }
        }
    }

    /// What was done in these messages: their calls, and how long they took and what they cost, if that is known.
    fn did(&self, messages: &[usize]) -> Markup {
        let conversation = self.conversation;
        let calls: Vec<PartRef> = messages.iter().flat_map(|at| self.calls_of(*at)).collect();
        let failed = calls.iter().filter(|call| conversation.is_failed(**call)).count();
        let seconds = seconds(conversation, messages).filter(|seconds| *seconds >= 1.0);
        let cost = cost(conversation, messages);
        html! {
            span class="did" {
                span { (counted(calls.len(), "call")) }
                @if failed > 0 { span class="failed" { (figure(failed)) " failed" } }
                @if let Some(seconds) = seconds { span { (duration(seconds)) } }
                @if cost > 0.0 { span { (dollars(cost)) } }
            }
        }
    }

    /// What the model said last in these messages.
    fn last_words(&self, messages: &[usize]) -> Option<String> {
        let messages = messages.iter().rev().map(|at| &self.conversation.messages[*at]);
        let replies = messages.filter(|message| message.role == Role::Assistant);
        let texts = replies.flat_map(|message| message.parts.iter().rev()).filter_map(|part| part.content.text());
        texts.filter(|text| !text.is_blank()).map(|text| plain(&text.decode(), 200)).next()
    }
}

/// The seconds from the first to the last of these messages that have a time.
fn seconds(conversation: &Conversation<'_>, messages: &[usize]) -> Option<f64> {
    let mut moments = messages.iter().filter_map(|at| conversation.times.messages[*at].as_ref());
    let first = moments.next()?;
    Some(moments.next_back().unwrap_or(first).seconds - first.seconds)
}

/// What the requests of these messages cost, in US dollars.
fn cost(conversation: &Conversation<'_>, messages: &[usize]) -> f64 {
    let costs = conversation.spending.as_ref().map(|spending| &spending.messages);
    messages.iter().filter_map(|at| costs?.get(*at)).sum()
}

/// What a call says that it is about.
fn description(arguments: &str) -> Option<String> {
    let document = Document::parse(arguments).ok()?;
    let object = document.roots().next().filter(|root| root.is_object())?;
    member_text(object, &["description", "task_name", "title", "name"]).filter(|text| !text.is_empty())
}
