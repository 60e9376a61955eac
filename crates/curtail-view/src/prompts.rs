//! Draws what precedes the messages of a session: who worked when, and its prompts with the work that followed.

use maud::{Markup, html};

use super::conversation::Conversation;
use super::spending::dollars;
use super::story::{Prompt, TurnEnd};
use super::visible::{Shown, date, duration, line};
use curtail_core::numbers::{counted, figure};

/// Maximum number of tools that are listed for a prompt.
const MAX_TOOLS: usize = 4;
/// Maximum number of files that are listed for a prompt.
const MAX_FILES: usize = 4;

/// The agent, model, project, date and file.
pub(super) fn byline(conversation: &Conversation<'_>) -> Markup {
    let story = &conversation.story;
    html! {
        p class="byline" {
            span data-fact="agent" { (Shown(&story.agent)) }
            @if let Some(model) = &conversation.model { span data-fact="model" { (Shown(model)) } }
            @if let Some(project) = &story.project { span data-fact="project" { code { (Shown(project)) } } }
            @if let Some(first) = &conversation.times.began { span data-fact="date" {
                (first.draw(true))
                @if let Some(last) = conversation.times.ended.as_ref().filter(|last| last.seconds - first.seconds >= 60.0) {
                    "–" (last.draw(date(&last.written) != date(&first.written)))
                }
            } }
            @if story.title.is_some() { span data-fact="file" { (Shown(&conversation.place.name)) } }
        }
    }
}

/// The prompts, beside the conversation. `label` is the name of their list.
pub(super) fn rail(conversation: &Conversation<'_>, label: &str) -> Markup {
    let prompts = &conversation.story.prompts;
    let dropped = prompts.iter().filter(|prompt| conversation.is_dropped(prompt.message)).count();
    html! {
        @if !prompts.is_empty() {
            nav class="prompts" aria-label=(Shown(label)) {
                details open {
                    summary {
                        (counted(prompts.len(), "prompt"))
                        @if dropped > 0 { span class="of" { " · " (figure(dropped)) " dropped by the policy" } }
                    }
                    ol { @for nth in 0..prompts.len() { (prompt_item(conversation, nth)) } }
                }
            }
        }
    }
}

fn prompt_item(conversation: &Conversation<'_>, nth: usize) -> Markup {
    let prompts = &conversation.story.prompts;
    let prompt = &prompts[nth];
    let moment = conversation.times.messages[prompt.message].as_ref();
    let is_new_day = nth.checked_sub(1).is_some_and(|last| {
        let before = conversation.times.messages[prompts[last].message].as_ref();
        before.map(|before| date(&before.written)) != moment.map(|moment| date(&moment.written))
    });
    let words = if prompt.text.is_empty() { conversation.beginning(prompt.message) } else { prompt.text.clone() };
    let mark = mark(prompt);
    html! {
        li class={ (mark.class) (if conversation.is_dropped(prompt.message) { " dropped" } else { "" }) } {
            a href={ "#" (conversation.anchor(prompt.message)) } { (Shown(&line(&words, 160))) }
            span class="mark" role="img" aria-label=(mark.meaning) title=(mark.meaning) { (mark.sign) }
            span class="did" {
                @if let Some(moment) = moment { span { (moment.draw(is_new_day)) } }
                @if let Some(seconds) = prompt.seconds.filter(|seconds| *seconds >= 1.0) { span { (duration(seconds)) } }
                @if prompt.calls > 0 { span { (calls(prompt)) } }
                @if prompt.failed > 0 { span class="failed" { (figure(prompt.failed)) " failed" } }
                @if !prompt.files.is_empty() { span { (files(&prompt.files)) } }
                @if prompt.commits > 0 { span { (counted(prompt.commits, "commit")) } }
                @if let Some(amount) = prompt.dollars.filter(|amount| *amount > 0.0) { span { (dollars(amount)) } }
                @else { span { (counted(prompt.tokens, "token")) } }
            }
            (ended(&prompt.end))
        }
    }
}

/// The outcome of a prompt as a sign.
struct Mark {
    sign: &'static str,
    class: &'static str,
    meaning: &'static str,
}

const fn mark(prompt: &Prompt) -> Mark {
    match &prompt.end {
        TurnEnd::Stopped | TurnEnd::Pending(_) | TurnEnd::Result | TurnEnd::Unanswered => {
            Mark { sign: "■", class: "stopped", meaning: "ended without a reply" }
        }
        _ if prompt.failed > 0 => Mark { sign: "▲", class: "failing", meaning: "calls failed" },
        _ if prompt.files.is_empty() => Mark { sign: "○", class: "answered", meaning: "answered" },
        _ => Mark { sign: "●", class: "worked", meaning: "files changed" },
    }
}

/// The number of calls, in total and of the most used tools.
fn calls(prompt: &Prompt) -> Markup {
    let named = prompt.tools.len().min(if prompt.tools.len() > MAX_TOOLS { MAX_TOOLS - 1 } else { MAX_TOOLS });
    let others: usize = prompt.tools[named..].iter().map(|(_, count)| count).sum();
    html! {
        (counted(prompt.calls, "call"))
        span class="full" {
            @if let [(name, _)] = prompt.tools.as_slice() { " of " code { (Shown(&line(name, 30))) } }
            @else {
                ": "
                @for (nth, (name, count)) in prompt.tools[..named].iter().enumerate() {
                    @if nth > 0 { ", " } (figure(*count)) " " code { (Shown(&line(name, 30))) }
                }
                @if others > 0 { ", " (counted(others, "other")) }
            }
        }
    }
}

fn files(paths: &[String]) -> Markup {
    html! {
        span class="brief" { (counted(paths.len(), "file")) }
        span class="full" {
            "changed " @for (nth, path) in paths.iter().take(MAX_FILES).enumerate() {
                @if nth > 0 { ", " } code title=(Shown(path)) { (Shown(&line(path.rsplit(['/', '\\']).next().unwrap_or(path), 40))) }
            }
            @if paths.len() > MAX_FILES { " and " (figure(paths.len() - MAX_FILES)) " more" }
        }
    }
}

/// How the work after a prompt ended.
fn ended(end: &TurnEnd) -> Markup {
    html! {
        @match end {
            TurnEnd::Unanswered => { span class="ended" { "no reply" } },
            TurnEnd::Text(words) => { span class="ended" { "→ " (Shown(words)) } },
            TurnEnd::Question(words) => { span class="ended" { "→ asks: " (Shown(words)) } },
            TurnEnd::Submitted(words) => { span class="ended" { "→ submitted" @if !words.is_empty() { ": " (Shown(words)) } } },
            TurnEnd::Pending(name) => { span class="ended stopped" { "ended with a call of " (Shown(name)) ", which has no result" } },
            TurnEnd::Result => { span class="ended stopped" { "ended with a result, without a reply" } },
            TurnEnd::Stopped => { span class="ended stopped" { "stopped by the person" } },
        }
    }
}
